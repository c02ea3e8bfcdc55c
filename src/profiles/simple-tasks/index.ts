import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature } from '../feature.ts';
import { createSimpleTaskRoutes } from './routes.ts';
import { SimpleTaskSeed } from './schema.ts';
import { createMemorySimpleTaskStore, type SimpleTaskStore } from './store.ts';

/** A minimal task list, separate from `tasks`: titles that are pending or done. */
export const simpleTasks = defineFeature({
  name: 'simple-tasks',
  profiles: [{ name: 'simple-tasks', alias: 'L', mounts: ['/simple'], summary: 'a minimal task list', strict: true }],
  settings: {},
  seed: { simpleTasks: SimpleTaskSeed },
  create: async ({ records }) => {
    const store = createMemorySimpleTaskStore();
    await restoreTasks(store, (records['simpleTasks'] ?? []) as SimpleTaskSeed[]);
    return { profiles: { 'simple-tasks': createSimpleTaskRoutes(store) }, close: async () => store.close() };
  },
});

const restoreTasks = async (store: SimpleTaskStore, records: SimpleTaskSeed[]): Promise<void> => {
  for (const [index, { id, title, status = 'pending' }] of records.entries()) {
    if (id !== undefined && id !== index + 1) {
      throw new SettingsError([`seed record simpleTasks[${index}].id must be ${index + 1}, its place in the list`]);
    }
    await store.add({ title, status });
  }
};
