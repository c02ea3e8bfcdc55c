import type { Database } from '../../storage/postgres/database.ts';
import { createEntryCollection, listEntries } from '../../storage/postgres/entry-collection.ts';
import type { SimpleTask } from './schema.ts';
import type { SimpleTaskStore } from './store.ts';

const name = 'simple_task';

/** Simple tasks in a database that several instances share. */
export const createPostgresSimpleTaskStore = (database: Database, clock: () => Date): SimpleTaskStore => {
  const collection = createEntryCollection<Omit<SimpleTask, 'id'>, SimpleTask>(
    {
      name,
      read: [],
      complete: (records, nextId) => records.map(({ title, status }, index) => ({ id: nextId + index, title, status })),
      store: () => [],
    },
    clock,
  );
  return {
    add: async (fields) => {
      const [task] = await database.write(collection, { fields: [fields], ifEmpty: false });
      return task as SimpleTask;
    },
    find: async (id) => {
      if (!Number.isSafeInteger(id)) return undefined;
      const [row] = await database.query({
        text: 'SELECT body FROM signalbox.simple_task WHERE id = $1',
        values: [id],
      });
      return row && JSON.parse(row.body);
    },
    list: () => listEntries(database, name),
    restore: async (records) => {
      await database.write(collection, { fields: records, ifEmpty: true });
    },
    isReady: () => database.isReady(),
    // The database is closed by who has opened it.
    close: () => undefined,
  };
};
