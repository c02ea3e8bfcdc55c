import { KeyRefusal } from '../../../expected-errors.ts';
import { toLocalTimestamp } from '../../../http/timestamp.ts';
import type { Row, Statement } from '../../../storage/postgres/connecting/connection.ts';
import type { Collection, Decision, Gate } from '../../../storage/postgres/writing/gated-collection.ts';
import { rememberedMs } from '../../../storage/recent-keys.ts';
import { type Versioned, version } from '../../../storage/versions.ts';
import { type NewTask, priorities, statuses, type Task, type TaskChanges, type TaskSeed } from '../schema.ts';
import type { RequestKey } from '../store.ts';
import { assertExpected, toNewTask, toSeedTask, toUpdated } from '../task-rules.ts';
import { setCount, toMemberships, toPosition } from '../task-sets.ts';
import { toPlainTask, toStoredTask, toTaskText } from '../task-text.ts';

export type TaskChange =
  | { create: NewTask; key: RequestKey | undefined }
  | { update: number; changes: TaskChanges; expected: readonly number[] | undefined }
  | { remove: number; expected: readonly number[] | undefined }
  | { restore: readonly TaskSeed[]; ifNew: boolean };

/** The task that was created or changed, the number of tasks after a removal, or the index of a refused seed record. */
export type TaskResult = Versioned<Task> | number | undefined;

/** Changes of tasks; times are those of `clock`, or of the last change if that was later. */
export const createTaskCollection = (clock: () => Date): Collection<TaskChange, TaskResult> => ({
  name: 'task',
  read: (changes) => {
    const ids = changes.flatMap((change) =>
      'update' in change ? change.update : 'remove' in change ? change.remove : [],
    );
    const keys = changes.flatMap((change) => ('create' in change && change.key ? change.key.key : []));
    if (ids.length === 0 && keys.length === 0) return [];
    return [
      { text: 'SELECT id, version, body FROM signalbox.task WHERE id = ANY($1)', values: [ids] },
      {
        text: `SELECT key, fingerprint, answer FROM signalbox.idempotency
          WHERE key = ANY($1) AND at > to_timestamp($2) - interval '${rememberedMs} milliseconds'`,
        values: [keys, clock().getTime() / 1000],
      },
    ];
  },
  decide: (changes, [tasks = [], keys = []], gate) => {
    const batch = new TaskBatch(tasks, keys, gate, clock());
    const decisions = changes.map((change) => batch.decide(change));
    return { decisions, statements: batch.toStatements() };
  },
});

/** Tasks as they are after the changes that were decided so far. */
class TaskBatch {
  readonly #gate: Gate;
  readonly #now: string;
  readonly #tasks: Map<number, Versioned<Task> | undefined>;
  readonly #keys: Map<string, { bodyHash: string; text: string }>;
  /** The tasks that exist in the table, those that were changed, and the keys that were added. */
  readonly #stored: ReadonlySet<number>;
  readonly #changed = new Set<number>();
  readonly #addedKeys: string[] = [];

  constructor(tasks: readonly Row[], keys: readonly Row[], gate: Gate, clock: Date) {
    gate.at = Math.max(gate.at, clock.getTime());
    if (gate.counts.length === 0) gate.counts = Array.from({ length: setCount }, () => 0);
    this.#gate = gate;
    this.#now = toLocalTimestamp(new Date(gate.at));
    this.#tasks = new Map(tasks.map(({ id, version: ofVersion, body }) => [id, toStoredTask(body, ofVersion)]));
    this.#stored = new Set(this.#tasks.keys());
    this.#keys = new Map(keys.map(({ key, fingerprint, answer }) => [key, { bodyHash: fingerprint, text: answer }]));
  }

  decide(change: TaskChange): Decision<TaskResult> {
    try {
      return { result: this.#apply(change) };
    } catch (error) {
      return { refusal: error as Error };
    }
  }

  #apply(change: TaskChange): TaskResult {
    if ('create' in change) return this.#create(change.create, change.key);
    if ('restore' in change) return this.#restore(change.restore, change.ifNew);
    const id = 'update' in change ? change.update : change.remove;
    const task = this.#tasks.get(id);
    if (!task) return undefined;
    assertExpected(task, change.expected);
    if ('update' in change)
      return this.#put(toUpdated(toPlainTask(task), change.changes, this.#now), task[version] + 1);
    this.#replace(id, undefined);
    return this.#gate.counts[0] ?? 0;
  }

  #create(fields: NewTask, key: RequestKey | undefined): Versioned<Task> {
    const known = key && this.#keys.get(key.key);
    if (known && known.bodyHash !== key.bodyHash) throw new KeyRefusal();
    if (known) return toStoredTask(known.text, 1);
    this.#gate.lastId += 1;
    const task = toNewTask(this.#gate.lastId, fields, this.#now);
    if (key) {
      this.#keys.set(key.key, { bodyHash: key.bodyHash, text: toTaskText(task) });
      this.#addedKeys.push(key.key);
    }
    return this.#put(task, 1);
  }

  #restore(records: readonly TaskSeed[], ifNew: boolean): number | undefined {
    if (ifNew && this.#gate.lastId > 0) return undefined;
    let last = this.#gate.lastId;
    const tasks: Task[] = [];
    for (const [index, record] of records.entries()) {
      const { Id = last + 1 } = record;
      if (Id <= last) return index;
      last = Id;
      tasks.push(toSeedTask(Id, record, this.#now));
    }
    for (const task of tasks) this.#put(task, 1);
    this.#gate.lastId = last;
    return undefined;
  }

  #put(task: Task, ofVersion: number): Versioned<Task> {
    const stored = toStoredTask(toTaskText(task), ofVersion);
    this.#replace(task.Id, stored);
    return stored;
  }

  #replace(id: number, task: Versioned<Task> | undefined): void {
    this.#count(this.#tasks.get(id), -1);
    this.#count(task, 1);
    this.#tasks.set(id, task);
    this.#changed.add(id);
  }

  #count(task: Task | undefined, change: number): void {
    const sets = task ? toMemberships(task) : 0;
    const { counts } = this.#gate;
    for (let set = 0; set < setCount; set += 1) if (sets & (1 << set)) counts[set] = (counts[set] ?? 0) + change;
  }

  toStatements(): Statement[] {
    const removed: number[] = [];
    const updated = toColumns();
    const added = toColumns();
    for (const id of this.#changed) {
      const task = this.#tasks.get(id);
      const isStored = this.#stored.has(id);
      if (task) addRow(isStored ? updated : added, task);
      else if (isStored) removed.push(id);
    }
    const keys = this.#addedKeys;
    const known = keys.map((key) => this.#keys.get(key));
    return [
      ...when(removed, { text: 'DELETE FROM signalbox.task WHERE id = ANY($1)', values: [removed] }),
      ...when(updated[0], { text: update, values: updated }),
      ...when(added[0], { text: insert, values: added }),
      ...when(keys, {
        text: insertKeys,
        values: [keys, known.map((each) => each?.bodyHash), known.map((each) => each?.text), this.#gate.at / 1000],
      }),
    ];
  }
}

const columns = `unnest($1::bigint[], $2::smallint[], $3::smallint[], $4::int[], $5::text[])
  AS u (id, status, priority, version, body)`;
export const insert = `INSERT INTO signalbox.task (id, status, priority, version, body) SELECT * FROM ${columns}`;
const update = `UPDATE signalbox.task AS t SET status = u.status, priority = u.priority, version = u.version, body = u.body
  FROM ${columns} WHERE t.id = u.id`;

/** A key that has expired may still have its row. */
export const insertKeys = `INSERT INTO signalbox.idempotency (key, fingerprint, answer, at)
  SELECT u.key, u.fingerprint, u.answer, to_timestamp($4)
  FROM unnest($1::text[], $2::text[], $3::text[]) AS u (key, fingerprint, answer)
  ON CONFLICT (key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, at = excluded.at`;

type Columns = [ids: number[], statuses: number[], priorities: number[], versions: number[], bodies: string[]];

export const toColumns = (): Columns => [[], [], [], [], []];

export const addRow = ([ids, rowStatuses, rowPriorities, versions, bodies]: Columns, stored: Versioned<Task>): void => {
  const task = toPlainTask(stored);
  ids.push(task.Id);
  rowStatuses.push(toPosition(statuses, task.Status));
  rowPriorities.push(toPosition(priorities, task.Priority));
  versions.push(stored[version]);
  bodies.push(toTaskText(task));
};

const when = (values: readonly unknown[], statement: Statement): Statement[] => (values.length > 0 ? [statement] : []);
