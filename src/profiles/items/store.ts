import { randomInt } from 'node:crypto';
import { type Awaitable, type List, toList } from '../../storage/list.ts';
import { type Item, type ItemSeed, itemIds } from './schema.ts';

/** Stores items. Every method throws StoreUnavailable while the store cannot be used. */
export interface ItemStore {
  /** Stores an item under its given id or a random unused one; once all ids are used, under any id. */
  add(record: ItemSeed): Awaitable<Item>;
  /** At most `size` items from index `size × (page − 1)` on, in order of creation; `total` counts all. */
  listPage(page: number, size: number): Awaitable<List<Item>>;
  /** Excludes these ids from the random choice. */
  reserve(ids: readonly number[]): Awaitable<void>;
  /** Whether items can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Items in memory; they are lost when the server stops. */
export const createMemoryItemStore = (): ItemStore => {
  const items: Item[] = [];
  const unused = new Set(Array(itemIds).keys());
  return {
    add: ({ id = pickId(unused), name, status = 'created' }) => {
      const item = { id, name, status };
      unused.delete(id);
      items.push(item);
      return item;
    },
    listPage: (page, size) => toList(items, size * (page - 1), size),
    reserve: (ids) => {
      for (const id of ids) unused.delete(id);
    },
    isReady: () => true,
    close: () => undefined,
  };
};

const pickId = (unused: ReadonlySet<number>): number => {
  const candidates = [...unused];
  return candidates[randomInt(Math.max(candidates.length, 1))] ?? randomInt(itemIds);
};
