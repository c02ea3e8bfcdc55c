import { toLocalTimestamp } from '../../http/timestamp.ts';
import type { Collection, Decision, Gate } from '../../storage/postgres/batch.ts';
import type { Row, Statement } from '../../storage/postgres/connection.ts';
import { rememberedMs } from '../../storage/recent-keys.ts';
import { type NewTask, priorities, statuses, type Task, type TaskChanges, type TaskSeed } from './schema.ts';
import type { RequestKey, StoredTask } from './store.ts';
import {
  assertExpected,
  setCount,
  type TaskEntry,
  toKnownTask,
  toMemberships,
  toNewTask,
  toPosition,
  toSeedTasks,
  toUpdated,
} from './task.ts';

/** What a request asks for: the database decides, together with those of other instances, what it changes. */
export type TaskRequest =
  | { create: NewTask; key: RequestKey | undefined }
  | { update: number; changes: TaskChanges; expected: readonly number[] | undefined }
  | { remove: number; expected: readonly number[] | undefined }
  | { restore: readonly TaskSeed[]; ifNew: boolean };

/** The task that was created or changed, the number of tasks after a removal, or the index of a refused seed record. */
export type TaskResult = StoredTask | number | undefined;

/** Changes of tasks; times are those of `clock`, or of the last change if that was later. */
export const createTaskCollection = (clock: () => Date): Collection<TaskRequest, TaskResult> => ({
  name: 'task',
  read: (requests) => {
    const ids = requests.flatMap((request) =>
      'update' in request ? request.update : 'remove' in request ? request.remove : [],
    );
    const keys = requests.flatMap((request) => ('create' in request && request.key ? request.key.key : []));
    if (ids.length === 0 && keys.length === 0) return [];
    return [
      {
        isPrepared: true,
        text: 'SELECT id, version, status, priority, body FROM signalbox.task WHERE id = ANY($1)',
        values: [ids],
      },
      {
        isPrepared: true,
        text: `SELECT key, fingerprint, answer FROM signalbox.idempotency
          WHERE key = ANY($1) AND at > to_timestamp($2) - interval '${rememberedMs} milliseconds'`,
        values: [keys, clock().getTime() / 1000],
      },
    ];
  },
  decide: (requests, [tasks = [], keys = []], gate) => {
    const batch = new TaskBatch(tasks, keys, gate, clock());
    const decisions = requests.map((request) => batch.decide(request));
    return { decisions, statements: batch.toStatements() };
  },
});

/** Tasks as they are after the requests that were decided so far. */
class TaskBatch {
  readonly #gate: Gate;
  readonly #now: string;
  readonly #tasks: Map<number, TaskEntry | undefined>;
  readonly #keys: Map<string, { bodyHash: string; text: string }>;
  /** The tasks that exist in the table, those that were changed, and the keys that were added. */
  readonly #stored: ReadonlySet<number>;
  readonly #changed = new Set<number>();
  readonly #addedKeys: string[] = [];

  constructor(tasks: readonly Row[], keys: readonly Row[], gate: Gate, clock: Date) {
    gate.at = Math.max(gate.at, clock.getTime());
    if (gate.counts.length === 0) gate.counts = createCounts();
    this.#gate = gate;
    this.#now = toLocalTimestamp(new Date(gate.at));
    this.#tasks = new Map(tasks.map((row) => [row.id, toEntryOfRow(row)]));
    this.#stored = new Set(this.#tasks.keys());
    this.#keys = new Map(keys.map(({ key, fingerprint, answer }) => [key, { bodyHash: fingerprint, text: answer }]));
  }

  decide(request: TaskRequest): Decision<TaskResult> {
    try {
      return { result: this.#apply(request) };
    } catch (error) {
      return { refusal: error as Error };
    }
  }

  #apply(request: TaskRequest): TaskResult {
    if ('create' in request) return this.#create(request.create, request.key);
    if ('restore' in request) return this.#restore(request.restore, request.ifNew);
    const id = 'update' in request ? request.update : request.remove;
    const task = this.#tasks.get(id);
    if (!task) return undefined;
    assertExpected(task, request.expected);
    if ('update' in request) return this.#put(toUpdated(task, request.changes, this.#now));
    this.#replace(id, undefined);
    return this.#gate.counts[0] ?? 0;
  }

  #create(fields: NewTask, key: RequestKey | undefined): StoredTask {
    const known = key && this.#keys.get(key.key);
    if (known) return toKnownTask(known, key);
    this.#gate.lastId += 1;
    const task = toNewTask(this.#gate.lastId, fields, this.#now);
    if (key) {
      this.#keys.set(key.key, { bodyHash: key.bodyHash, text: task.text });
      this.#addedKeys.push(key.key);
    }
    return this.#put(task);
  }

  #restore(records: readonly TaskSeed[], ifNew: boolean): number | undefined {
    if (ifNew && this.#gate.lastId > 0) return undefined;
    const tasks = toSeedTasks(records, this.#gate.lastId, this.#now);
    if (typeof tasks === 'number') return tasks;
    for (const task of tasks) this.#put(task);
    this.#gate.lastId = tasks.at(-1)?.id ?? this.#gate.lastId;
    return undefined;
  }

  #put(task: TaskEntry): StoredTask {
    this.#replace(task.id, task);
    return task;
  }

  #replace(id: number, task: TaskEntry | undefined): void {
    const before = this.#tasks.get(id);
    if (before) countTask(this.#gate.counts, before, -1);
    if (task) countTask(this.#gate.counts, task, 1);
    this.#tasks.set(id, task);
    this.#changed.add(id);
  }

  toStatements(): Statement[] {
    const removed: number[] = [];
    const updated: TaskEntry[] = [];
    const added: TaskEntry[] = [];
    for (const id of this.#changed) {
      const task = this.#tasks.get(id);
      const isStored = this.#stored.has(id);
      if (task) (isStored ? updated : added).push(task);
      else if (isStored) removed.push(id);
    }
    const keys = this.#addedKeys.map((key) => ({ key, bodyHash: '', text: '', ...this.#keys.get(key) }));
    return [
      ...(removed.length > 0 ? [removeTasks(removed)] : []),
      ...(updated.length > 0 ? [updateTasks(updated)] : []),
      ...(added.length > 0 ? [insertTasks(added)] : []),
      ...(keys.length > 0 ? [insertTaskKeys(keys, this.#gate.at)] : []),
    ];
  }
}

/** Numbers of tasks by set. */
export const createCounts = (): number[] => Array.from({ length: setCount }, () => 0);

/** Adds a task to the sets that it is in, or takes it away (-1). */
export const countTask = (counts: number[], task: TaskEntry, change: 1 | -1): void => {
  const sets = toMemberships(task);
  for (let set = 0; set < setCount; set += 1) if (sets & (1 << set)) counts[set] = (counts[set] ?? 0) + change;
};

/** The task of a row; both numbers count from 1. */
export const toEntryOfRow = ({ id, version, status, priority, body }: Row): TaskEntry => ({
  id,
  version,
  status: statuses[status - 1] as Task['Status'],
  priority: priorities[priority - 1] as Task['Priority'],
  text: body,
});

const columns = `unnest($1::bigint[], $2::smallint[], $3::smallint[], $4::int[], $5::text[])
  AS u (id, status, priority, version, body)`;

const toColumns = (tasks: readonly TaskEntry[]): unknown[][] => [
  tasks.map(({ id }) => id),
  tasks.map(({ status }) => toPosition(statuses, status)),
  tasks.map(({ priority }) => toPosition(priorities, priority)),
  tasks.map(({ version }) => version),
  tasks.map(({ text }) => text),
];

export const insertTasks = (tasks: readonly TaskEntry[]): Statement => ({
  isPrepared: true,
  text: `INSERT INTO signalbox.task (id, status, priority, version, body) SELECT * FROM ${columns}`,
  values: toColumns(tasks),
});

const updateTasks = (tasks: readonly TaskEntry[]): Statement => ({
  isPrepared: true,
  text: `UPDATE signalbox.task AS t SET status = u.status, priority = u.priority, version = u.version, body = u.body
    FROM ${columns} WHERE t.id = u.id`,
  values: toColumns(tasks),
});

const removeTasks = (ids: readonly number[]): Statement => ({
  isPrepared: true,
  text: 'DELETE FROM signalbox.task WHERE id = ANY($1)',
  values: [ids],
});

/** Keys with the texts of the tasks they have created, `at` a time. A key that has expired may still have its row. */
export const insertTaskKeys = (keys: readonly (RequestKey & { text: string })[], at: number): Statement => ({
  isPrepared: true,
  text: `INSERT INTO signalbox.idempotency (key, fingerprint, answer, at)
    SELECT u.key, u.fingerprint, u.answer, to_timestamp($4)
    FROM unnest($1::text[], $2::text[], $3::text[]) AS u (key, fingerprint, answer)
    ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, at = excluded.at`,
  values: [keys.map(({ key }) => key), keys.map(({ bodyHash }) => bodyHash), keys.map(({ text }) => text), at / 1000],
});
