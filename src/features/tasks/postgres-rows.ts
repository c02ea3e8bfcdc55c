import { toColumns } from '../../storage/postgres/batch.ts';
import type { Row, Statement } from '../../storage/postgres/connection.ts';
import { priorities, statuses, type Task } from './schema.ts';
import type { RequestRepeatId } from './store.ts';
import { setCount, toMemberships, toPosition } from './task-sets.ts';
import type { TaskEntry } from './task-text.ts';

export const createCounts = (): number[] => Array.from({ length: setCount }, () => 0);

/** Adds a task to the counts of its sets. With -1, subtracts it. */
export const countTask = (counts: number[], task: TaskEntry, change: 1 | -1): void => {
  const sets = toMemberships(task);
  for (let set = 0; set < setCount; set += 1) if (sets & (1 << set)) counts[set] = (counts[set] ?? 0) + change;
};

/** Converts a row to a task. Status and priority are numbers, counted from 1. */
export const toEntryOfRow = ({ id, version, status, priority, body }: Row): TaskEntry => ({
  id,
  version,
  status: statuses[status - 1] as Task['Status'],
  priority: priorities[priority - 1] as Task['Priority'],
  text: body,
});

const columns = `unnest($1::bigint[], $2::smallint[], $3::smallint[], $4::int[], $5::text[])
  AS u (id, status, priority, version, body)`;

const toTaskColumns = (tasks: readonly TaskEntry[]): unknown[][] => [
  tasks.map(({ id }) => id),
  tasks.map(({ status }) => toPosition(statuses, status)),
  tasks.map(({ priority }) => toPosition(priorities, priority)),
  ...toColumns(tasks, 'version', 'text'),
];

export const insertTasks = (tasks: readonly TaskEntry[]): Statement => ({
  isPrepared: true,
  text: `INSERT INTO signalbox.task (id, status, priority, version, body) SELECT * FROM ${columns}`,
  values: toTaskColumns(tasks),
});

export const updateTasks = (tasks: readonly TaskEntry[]): Statement => ({
  isPrepared: true,
  text: `UPDATE signalbox.task AS t SET status = u.status, priority = u.priority, version = u.version, body = u.body
    FROM ${columns} WHERE t.id = u.id`,
  values: toTaskColumns(tasks),
});

export const removeTasks = (ids: readonly number[]): Statement => ({
  isPrepared: true,
  text: 'DELETE FROM signalbox.task WHERE id = ANY($1)',
  values: [ids],
});

/** Inserts keys with the original JSON of their tasks. The row of an expired key may still exist. */
export const insertTaskRepeatIds = (keys: readonly (RequestRepeatId & { text: string })[], at: number): Statement => ({
  isPrepared: true,
  text: `INSERT INTO signalbox.idempotency (key, fingerprint, answer, at)
    SELECT u.key, u.fingerprint, u.answer, to_timestamp($4)
    FROM unnest($1::text[], $2::text[], $3::text[]) AS u (key, fingerprint, answer)
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, at = excluded.at`,
  values: [...toColumns(keys, 'key', 'bodyHash', 'text'), at / 1000],
});
