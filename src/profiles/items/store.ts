import { randomInt } from 'node:crypto';
import type { OpenChanges } from '../../storage/changes/changes.ts';
import { openEntries } from '../../storage/changes/entries.ts';
import { type Awaitable, type List, toList } from '../../storage/list.ts';
import { type Item, type ItemSeed, itemIds } from './schema.ts';

/** Stores items. Every method throws StoreUnavailable while the store cannot be used. */
export interface ItemStore {
  /** Stores an item under a random unused id; once all ids are used, under any id. */
  add(item: Pick<Item, 'name'>): Awaitable<Item>;
  /** At most `size` items from index `size × (page − 1)` on, in order of creation; `total` counts all. */
  listPage(page: number, size: number): Awaitable<List<Item>>;
  /** Stores items under their own ids, or random ones that none of them has; unless there are items already. */
  restore(records: readonly ItemSeed[]): Awaitable<void>;
  /** Whether items can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Items in memory, whose changes show once they are stored. */
export const openItemStore = async (openChanges: OpenChanges): Promise<ItemStore> => {
  const used = new Set<number>();
  const noteUsed = (): void => {
    for (const { id } of items.all) used.add(id);
  };
  const items = await openEntries<Item>('items', openChanges, () => {
    used.clear();
    noteUsed();
  });
  noteUsed();
  return {
    add: ({ name }) => {
      const id = pickId(used);
      const added = items.add(() => ({ id, name, status: 'created' }));
      // Not if it was refused.
      used.add(id);
      return added;
    },
    listPage: (page, size) => toList(items.all, size * (page - 1), size),
    restore: (records) => {
      if (items.all.length > 0) return;
      for (const { id } of records) if (id !== undefined) used.add(id);
      const complete = records.map(({ id = pickId(used), name, status = 'created' }) => {
        used.add(id);
        return { id, name, status };
      });
      return items.restore(complete);
    },
    isReady: items.isReady,
    close: items.close,
  };
};

/** A random id that is not used; once all are, any. */
export const pickId = (used: ReadonlySet<number>): number => {
  const unused = Array.from({ length: itemIds }, (_, id) => id).filter((id) => !used.has(id));
  return unused[randomInt(Math.max(unused.length, 1))] ?? randomInt(itemIds);
};
