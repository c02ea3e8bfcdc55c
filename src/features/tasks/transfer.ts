import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer } from '../../kit/feature.ts';
import type { PortableTable } from '../../storage/portable-store.ts';
import type { Statement } from '../../storage/postgres/connection.ts';
import { rememberedMs } from '../../storage/recent-entries.ts';
import type { TaskChange } from './decide.ts';
import { countTask, createCounts, insertTaskRepeatIds, insertTasks, toEntryOfRow } from './postgres-rows.ts';
import { Task } from './schema.ts';
import { createTaskState } from './task-state.ts';
import { type TaskEntry, toTaskEntry } from './task-text.ts';

/** Maximum id in an import. Keeps later ids below 2^53. */
const maxId = 1e15;

const { Id: _, ...fields } = Task.properties;
const Id = Type.Integer({ minimum: 1, maximum: maxId });
const StoredTask = Type.Object(
  { Id, ...fields, version: Type.Integer({ minimum: 1, maximum: maxId }) },
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

/** Portable table of tasks, the last assigned id, and request keys. */
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
      // Ordered by the creation of the tasks.
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
      else if ('key' in change)
        keys.push(insertTaskRepeatIds([{ ...change.key, text: change.text }], change.key.storedAt));
      else if ('put' in change) {
        tasks.push(change.put);
        countTask(gate.counts, change.put, 1);
        gate.lastId = Math.max(gate.lastId, change.put.id);
      }
    }
    return [insertTasks(tasks), ...keys];
  },
};

/** Exports and imports tasks, the last assigned id, and the request keys of the last 24 hours. */
export const taskTransfer = defineTransfer<TaskChange>({
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
      // Without the last id, the ids of deleted tasks would be assigned again.
      if (!hasLastId) {
        const id = name === 'tasks' ? 'tasks.Id' : 'taskKeys.task';
        throw new SettingsError([`${id} must follow a line with lastTaskId, which is missing`]);
      }
      if (name === 'taskKeys') {
        const { task, ...key } = value as Static<typeof StoredKey>;
        if (keys.has(key.key)) throw new SettingsError(['taskKeys.key was already used in an earlier line']);
        keys.add(key.key);
        return { key, text: toTaskEntry(task, 1).text };
      }
      const { version, ...task } = value as Static<typeof StoredTask>;
      if (task.Id <= highest) throw new SettingsError(['tasks.Id must be higher than the ids of all preceding tasks']);
      highest = task.Id;
      return { put: toTaskEntry(task, version) };
    };
  },
});
