import { randomInt } from 'node:crypto';
import { type Awaitable, type List, toList } from '../../storage/list.ts';
import { type Item, type ItemSeed, itemIds } from './schema.ts';

/** Where items are kept. Every method throws StoreUnavailable while the store cannot be used. */
export interface ItemStore {
  /** Keeps an item under the id it brings, or a random unused one; once all ids are used, under any. */
  add(record: ItemSeed): Awaitable<Item>;
  /** Items `size × (page − 1)` and on, at most `size`, in order of creation; `total` counts all. */
  listPage(page: number, size: number): Awaitable<List<Item>>;
  /** Keeps these ids from being picked for others. */
  reserve(ids: readonly number[]): Awaitable<void>;
  /** Whether items can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Items in memory; they are lost when the process ends. */
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
