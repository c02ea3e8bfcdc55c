import Type, { type Static } from 'typebox';
import { openFor } from '../../auth/access.ts';
import { SettingsError } from '../../config/settings-error.ts';
import { defineFeature, defineTransfer, loadSeed } from '../../kit/feature.ts';
import type { TaskSource } from '../../kit/offers.ts';
import { createEventTopic, type Publish } from '../../kit/topic.ts';
import type { PortableTable } from '../../storage/portable-store.ts';
import type { Statement } from '../../storage/postgres/connection.ts';
import { rememberedMs } from '../../storage/recent-keys.ts';
import { createTaskState, openTaskStore } from './memory-store.ts';
import {
  countTask,
  createCounts,
  createPostgresTaskStore,
  insertTaskKeys,
  insertTasks,
  toEntryOfRow,
} from './postgres-store.ts';
import { createHealthRoute, createProtectedTaskListRoute, createTaskListRoute, createTaskRoutes } from './routes.ts';
import { Task, TaskNotice, TaskSeed } from './schema.ts';
import { type TaskChange, type TaskEntry, type TaskStore, toTaskEntry } from './store.ts';

/** Later ids stay below 2^53. */
const highestId = 1e15;

const { Id: _, ...fields } = Task.properties;
const Id = Type.Integer({ minimum: 1, maximum: highestId });
const StoredTask = Type.Object(
  { Id, ...fields, version: Type.Integer({ minimum: 1, maximum: highestId }) },
  { additionalProperties: false },
);
const StoredKey = Type.Object(
  {
    key: Type.String({ minLength: 1 }),
    bodyHash: Type.String({ minLength: 1 }),
    storedAt: Type.Integer({ minimum: 0 }),
    task: Type.Object({ Id, ...fields }, { additionalProperties: false }),
  },
  { additionalProperties: false },
);

/** How a database keeps tasks, the last id that was given, and the keys of requests. */
const taskTable: PortableTable<TaskChange> = {
  name: 'task',
  queries: [
    {
      text: `SELECT last_id AS "lastId" FROM signalbox.gate WHERE name = 'task'`,
      toChange: ({ lastId }) => ({ lastId }),
    },
    {
      text: 'SELECT id, version, status, priority, body FROM signalbox.task ORDER BY id',
      toChange: (row) => ({ put: toEntryOfRow(row) }),
    },
    {
      // In the order in which their tasks were created.
      text: `SELECT key, fingerprint, answer, extract(epoch FROM at)::float8 * 1000 AS at FROM signalbox.idempotency
        WHERE at > now() - interval '${rememberedMs} milliseconds' ORDER BY substring(answer FROM '^{"Id":(\\d+)')::bigint`,
      toChange: ({ key, fingerprint, answer, at }) => ({
        key: { key, bodyHash: fingerprint, storedAt: Math.round(at) },
        text: answer,
      }),
    },
  ],
  insert: (changes, gate) => {
    if (gate.counts.length === 0) gate.counts = createCounts();
    const tasks: TaskEntry[] = [];
    const keys: Statement[] = [];
    for (const change of changes) {
      if ('lastId' in change) gate.lastId = Math.max(gate.lastId, change.lastId);
      else if ('key' in change) keys.push(insertTaskKeys([{ ...change.key, text: change.text }], change.key.storedAt));
      else if ('put' in change) {
        tasks.push(change.put);
        countTask(gate.counts, change.put, 1);
        gate.lastId = Math.max(gate.lastId, change.put.id);
      }
    }
    return [insertTasks(tasks), ...keys];
  },
};

/** Tasks, the last id that was given, and the keys of requests that created a task in the last 24 hours. */
const taskTransfer = defineTransfer<TaskChange>({
  name: 'tasks',
  lines: { tasks: StoredTask, lastTaskId: Id, taskKeys: StoredKey },
  table: taskTable,
  createState: () => createTaskState(() => new Date()),
  toLine: (change) => {
    if ('lastId' in change) return change.lastId > 0 ? ['lastTaskId', change.lastId] : undefined;
    if ('key' in change) return ['taskKeys', { ...change.key, task: JSON.parse(change.text) }];
    if ('removed' in change) return undefined;
    return ['tasks', { ...JSON.parse(change.put.text), version: change.put.version }];
  },
  createParser: () => {
    let highest = 0;
    let hasLastId = false;
    const keys = new Set<string>();
    return (name, value) => {
      if (name === 'lastTaskId') {
        hasLastId = true;
        return { lastId: value as number };
      }
      // Without it, ids of deleted tasks would be given again.
      if (!hasLastId) {
        const id = name === 'tasks' ? 'tasks.Id' : 'taskKeys.task';
        throw new SettingsError([`${id} must follow a line with lastTaskId, which is missing`]);
      }
      if (name === 'taskKeys') {
        const { task, ...key } = value as Static<typeof StoredKey>;
        if (keys.has(key.key)) throw new SettingsError(['taskKeys.key is that of a task before it']);
        keys.add(key.key);
        return { key, text: toTaskEntry(task, 1).text };
      }
      const { version, ...task } = value as Static<typeof StoredTask>;
      if (task.Id <= highest) throw new SettingsError(['tasks.Id must be higher than those of the tasks before it']);
      highest = task.Id;
      return { put: toTaskEntry(task, version) };
    };
  },
});

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
