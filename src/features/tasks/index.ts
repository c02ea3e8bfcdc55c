import { openFor } from '../../auth/access.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature, loadSeed } from '../../kit/feature.ts';
import type { TaskSource } from '../../kit/offers.ts';
import { createEventTopic, type Publish } from '../../kit/topic.ts';
import { openTaskStore } from './memory-store.ts';
import { createPostgresTaskStore } from './postgres-store.ts';
import { createHealthRoute, createProtectedTaskListRoute, createTaskListRoute, createTaskRoutes } from './routes.ts';
import { TaskNotice, TaskSeed } from './schema.ts';
import type { TaskStore } from './store.ts';
import { taskTransfer } from './transfer.ts';

/** Feature for tasks, with and without a token: two profiles with one store. */
export const tasks = defineFeature({
  name: 'tasks',
  profiles: [
    { name: 'tasks', aliases: ['T'], mounts: ['/'], summary: 'tasks with filters' },
    {
      name: 'protected-tasks',
      mounts: ['/protected'],
      summary: 'tasks, with a list that needs a token',
      fixedAccess: 'closed',
    },
  ],
  settings: {},
  seed: { tasks: TaskSeed },
  transfer: taskTransfer,
  create: async ({ clock, host, version, storage, log, records }) => {
    const store = storage.database
      ? createPostgresTaskStore(storage.database, clock)
      : await openTaskStore(clock, storage.changes);
    const seed = (records['tasks'] ?? []) as TaskSeed[];
    await loadSeed(() => restoreTasks(store, seed), log);
    const { topic, publish } = createEventTopic(openFor('tasks:read'), TaskNotice);
    const shared = [...createTaskRoutes(store, publish), createHealthRoute({ clock, host, version })];
    return {
      offers: { tasks: createTaskSource(store, publish) },
      profiles: {
        tasks: [createTaskListRoute(store), ...shared],
        'protected-tasks': [createProtectedTaskListRoute(store), ...shared],
      },
      topics: { tasks: topic },
      isReady: store.isReady,
      close: async () => store.close(),
    };
  },
});

/** Creates the source through which other features create tasks. */
const createTaskSource = (store: TaskStore, publish: Publish): TaskSource => ({
  create: async (fields, key) => {
    const { id } = await store.create(fields, { key, bodyHash: key });
    publish(() => ({ id, kind: 'created' }));
    return id;
  },
});

/** Loads the seed. Does nothing if the store has ever contained a task. */
const restoreTasks = async (store: TaskStore, records: TaskSeed[]): Promise<void> => {
  if (records.length === 0) return;
  const refused = await store.restore(records, true);
  if (refused === undefined) return;
  throw new SettingsError([`seed record tasks[${refused}].Id must be higher than all preceding ids`]);
};
