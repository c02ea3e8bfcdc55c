import { randomInt } from 'node:crypto';
import type { EntryKind, EntryStore } from '../../storage/entries.ts';
import { type Item, type ItemSeed, itemIds } from './schema.ts';

/** A new item gets a random unused id; once all ids are used, any. */
export const itemKind: EntryKind<ItemSeed, Item> = {
  name: 'items',
  table: 'item',
  complete: ({ id, name, status = 'created' }, _place, taken) => ({ id: id ?? pickId(taken), name, status }),
  numbers: { table: 'item_number', of: ({ id }) => id },
};

export type ItemStore = EntryStore<ItemSeed, Item>;

const pickId = (taken: ReadonlySet<number>): number => {
  const unused = Array.from({ length: itemIds }, (_, id) => id).filter((id) => !taken.has(id));
  return unused[randomInt(Math.max(unused.length, 1))] ?? randomInt(itemIds);
};
