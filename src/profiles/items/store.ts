import { randomInt } from 'node:crypto';
import { type Item, type ItemSeed, itemIds } from './schema.ts';

export interface ItemStore {
  /** Keeps an item under the id it brings, or a random unused one; once all ids are used, under any. */
  add(record: ItemSeed): Item;
  /** Items `size × (page − 1)` and on, at most `size`, in order of creation. */
  listPage(page: number, size: number): Item[];
  count(): number;
  /** Keeps these ids from being picked for others. */
  reserve(ids: readonly number[]): void;
}

/** Items in memory; they are gone when the process ends. */
export const createItemStore = (): ItemStore => {
  const items: Item[] = [];
  const unused = new Set(Array(itemIds).keys());
  return {
    add: ({ id = pickId(unused), name, status = 'created' }) => {
      const item = { id, name, status };
      unused.delete(id);
      items.push(item);
      return item;
    },
    listPage: (page, size) => items.slice(size * (page - 1), size * page),
    count: () => items.length,
    reserve: (ids) => {
      for (const id of ids) unused.delete(id);
    },
  };
};

const pickId = (unused: ReadonlySet<number>): number => {
  const candidates = [...unused];
  return candidates[randomInt(Math.max(candidates.length, 1))] ?? randomInt(itemIds);
};
