import Type from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature, defineTransfer, loadSeed } from '../../kit/feature.ts';
import { createEntriesState, type EntryChange, openEntryStore } from '../../storage/entries.ts';
import { createEntryTable, createPostgresEntryStore } from '../../storage/postgres/entries.ts';
import { createSimpleTaskRoutes, SimpleTask, SimpleTaskSeed, type SimpleTaskStore, simpleTaskKind } from './routes.ts';

/** Feature for a minimal task list, separate from `tasks`. */
export const simpleTasks = defineFeature({
  name: 'simple-tasks',
  profiles: [
    { name: 'simple-tasks', aliases: ['L'], mounts: ['/simple'], summary: 'a minimal task list', strict: true },
  ],
  settings: {},
  seed: { simpleTasks: SimpleTaskSeed },
  /** Transfers tasks in order of creation. If a task has been lost, renumbers the later tasks to close the gap. */
  transfer: defineTransfer<EntryChange<SimpleTask>>({
    name: simpleTaskKind.name,
    lines: { simpleTasks: Type.Object(SimpleTask.properties, { additionalProperties: false }) },
    table: createEntryTable(simpleTaskKind),
    createState: () => createEntriesState<SimpleTask>([]),
    toLine: ({ entry }, before) => ['simpleTasks', { ...entry, id: before + 1 }],
    createParser: () => {
      let count = 0;
      return (_key, value) => {
        const entry = value as SimpleTask;
        if (entry.id !== count + 1) {
          throw new SettingsError([`simpleTasks.id must be ${count + 1}, the position in the list`]);
        }
        return { index: count++, entry };
      };
    },
  }),
  create: async ({ storage, clock, log, records }) => {
    const store = storage.database
      ? createPostgresEntryStore(simpleTaskKind, storage.database, clock)
      : await openEntryStore(simpleTaskKind, storage.changes);
    const seed = (records['simpleTasks'] ?? []) as SimpleTaskSeed[];
    await loadSeed(() => restoreTasks(store, seed), log);
    const profiles = { 'simple-tasks': createSimpleTaskRoutes(store) };
    return { profiles, isReady: store.isReady, close: async () => store.close() };
  },
});

/** Stores the seed records unless tasks already exist. */
const restoreTasks = async (store: SimpleTaskStore, records: SimpleTaskSeed[]): Promise<void> => {
  const wrong = records.findIndex(({ id }, index) => id !== undefined && id !== index + 1);
  if (wrong >= 0) {
    throw new SettingsError([`seed record simpleTasks[${wrong}].id must be ${wrong + 1}, the position in the list`]);
  }
  if (records.length > 0) await store.restore(records);
};
