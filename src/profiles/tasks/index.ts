import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature } from '../feature.ts';
import { createHealthRoute } from './health-route.ts';
import { createMemoryTaskStore } from './memory-store.ts';
import { createProtectedListRoute } from './protected-routes.ts';
import { createListRoute, createTaskRoutes } from './routes.ts';
import { TaskSeed } from './schema.ts';
import type { TaskStore } from './store.ts';

/** Tasks, open or behind a token: two profiles over one store. */
export const tasks = defineFeature({
  name: 'tasks',
  profiles: [
    { name: 'tasks', alias: 'T', mounts: ['/'], summary: 'tasks with filters' },
    { name: 'protected-tasks', mounts: ['/protected'], summary: 'the same tasks, the list behind a token' },
  ],
  settings: {},
  seed: { tasks: TaskSeed },
  create: ({ clock, host, version, nodeVersion, records }) => {
    const store = createMemoryTaskStore(clock);
    restoreTasks(store, (records['tasks'] ?? []) as TaskSeed[]);
    const shared = [...createTaskRoutes(store), createHealthRoute({ clock, host, version, nodeVersion })];
    return {
      profiles: {
        tasks: [createListRoute(store), ...shared],
        'protected-tasks': [createProtectedListRoute(store), ...shared],
      },
    };
  },
});

const restoreTasks = (store: TaskStore, records: TaskSeed[]): void => {
  const misplaced = records.findIndex((record) => !store.restore(record));
  if (misplaced >= 0) {
    throw new SettingsError([`seed record tasks[${misplaced}].Id must be higher than every id before it`]);
  }
};
