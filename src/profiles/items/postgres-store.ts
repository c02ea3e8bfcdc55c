import type { Statement } from '../../storage/postgres/connecting/connection.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { createEntryCollection, listEntries } from '../../storage/postgres/entry-collection.ts';
import type { Item, ItemSeed } from './schema.ts';
import { type ItemStore, pickId } from './store.ts';

const name = 'item';

/** Items in a database that several instances share. */
export const createPostgresItemStore = (database: Database, clock: () => Date): ItemStore => {
  const collection = createEntryCollection<ItemSeed, Item>(
    {
      name,
      read: [{ text: 'SELECT number FROM signalbox.item_number' }],
      complete: (records, _nextId, [numbers = []]) => {
        const used = new Set<number>(numbers.map(({ number }) => number));
        for (const { id } of records) if (id !== undefined) used.add(id);
        return records.map(({ id = pickId(used), name, status = 'created' }) => {
          used.add(id);
          return { id, name, status };
        });
      },
      store: storeNumbers,
    },
    clock,
  );
  return {
    add: async (fields) => {
      const [item] = await database.write(collection, { fields: [fields], ifEmpty: false });
      return item as Item;
    },
    listPage: (page, size) => listEntries(database, name, size * (page - 1), size),
    restore: async (records) => {
      await database.write(collection, { fields: records, ifEmpty: true });
    },
    isReady: () => database.isReady(),
    // The database is closed by who has opened it.
    close: () => undefined,
  };
};

/** Stores which ids are taken; a clash is possible, since there are only few. */
export const storeNumbers = (items: readonly Item[]): Statement[] => [
  {
    text: 'INSERT INTO signalbox.item_number SELECT unnest($1::int[]) ON CONFLICT DO NOTHING',
    values: [items.map(({ id }) => id)],
  },
];
