import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature, loadSeed } from '../feature.ts';
import type { TaskSource } from '../task-source.ts';
import { createNoticeTopic, type Publish } from '../topic.ts';
import { openTaskStore } from './memory-store.ts';
import { createPostgresTaskStore } from './postgres-store.ts';
import { createHealthRoute, createListRoute, createProtectedListRoute, createTaskRoutes } from './routes.ts';
import { TaskNotice, TaskSeed } from './schema.ts';
import type { TaskStore } from './store.ts';
import { taskTransfer } from './transfer.ts';

/** Tasks, open or behind a token: two profiles over one store. */
export const tasks = defineFeature({
  name: 'tasks',
  profiles: [
    { name: 'tasks', aliases: ['T'], mounts: ['/'], summary: 'tasks with filters' },
    {
      name: 'protected-tasks',
      mounts: ['/protected'],
      summary: 'the same tasks, the list behind a token',
      fixedAccess: 'closed',
    },
  ],
  settings: {},
  seed: { tasks: TaskSeed },
  transfer: taskTransfer,
  create: async ({ clock, host, version, openChanges, database, log, records }) => {
    const store = database ? createPostgresTaskStore(database, clock) : await openTaskStore(clock, openChanges);
    const seed = (records['tasks'] ?? []) as TaskSeed[];
    await loadSeed(() => restoreTasks(store, seed), log);
    const { topic, publish } = createNoticeTopic('open', TaskNotice);
    const shared = [...createTaskRoutes(store, publish), createHealthRoute({ clock, host, version })];
    return {
      offers: { tasks: createTaskSource(store, publish) },
      profiles: {
        tasks: [createListRoute(store), ...shared],
        'protected-tasks': [createProtectedListRoute(store), ...shared],
      },
      topics: { tasks: topic },
      isReady: store.isReady,
      close: async () => store.close(),
    };
  },
});

/** What other features may use of the tasks. */
const createTaskSource = (store: TaskStore, publish: Publish): TaskSource => ({
  create: async (fields, key) => {
    const { id } = await store.create(fields, { key, bodyHash: key });
    publish(() => ({ id, kind: 'created' }));
    return id;
  },
});

/** Loads the seed, unless the store has had tasks before. */
const restoreTasks = async (store: TaskStore, records: TaskSeed[]): Promise<void> => {
  if (records.length === 0) return;
  const refused = await store.restore(records, true);
  if (refused === undefined) return;
  throw new SettingsError([`seed record tasks[${refused}].Id must be higher than every id before it`]);
};
