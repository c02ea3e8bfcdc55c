import { SettingsError } from '../../config/settings-error.ts';
import { loadSeed } from '../../storage/load-seed.ts';
import { defineFeature } from '../feature.ts';
import { createPostgresSimpleTaskStore } from './postgres-store.ts';
import { createSimpleTaskRoutes } from './routes.ts';
import { SimpleTaskSeed } from './schema.ts';
import { openSimpleTaskStore, type SimpleTaskStore } from './store.ts';
import { simpleTaskTransfer } from './transfer.ts';

/** A minimal task list, separate from `tasks`: titles that are pending or done. */
export const simpleTasks = defineFeature({
  name: 'simple-tasks',
  profiles: [{ name: 'simple-tasks', alias: 'L', mounts: ['/simple'], summary: 'a minimal task list', strict: true }],
  settings: {},
  seed: { simpleTasks: SimpleTaskSeed },
  transfer: simpleTaskTransfer,
  create: async ({ openChanges, database, clock, log, records }) => {
    const store = database ? createPostgresSimpleTaskStore(database, clock) : await openSimpleTaskStore(openChanges);
    const seed = (records['simpleTasks'] ?? []) as SimpleTaskSeed[];
    await loadSeed(() => restoreTasks(store, seed), log);
    const profiles = { 'simple-tasks': createSimpleTaskRoutes(store) };
    return { profiles, isReady: store.isReady, close: async () => store.close() };
  },
});

/** Loads the seed, unless there are tasks already. */
const restoreTasks = async (store: SimpleTaskStore, records: SimpleTaskSeed[]): Promise<void> => {
  const wrong = records.findIndex(({ id }, index) => id !== undefined && id !== index + 1);
  if (wrong >= 0) {
    throw new SettingsError([`seed record simpleTasks[${wrong}].id must be ${wrong + 1}, its place in the list`]);
  }
  if (records.length === 0) return;
  await store.restore(records.map(({ title, status = 'pending' }) => ({ title, status })));
};
