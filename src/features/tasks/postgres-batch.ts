import type { Collection, Decision, Gate } from '../../storage/postgres/batch.ts';
import type { Row, Statement } from '../../storage/postgres/connection.ts';
import { rememberedMs } from '../../storage/recent-entries.ts';
import { type CurrentTasks, type DecidedChange, decideTask, type TaskRequest, toSeedTasks } from './decide.ts';
import {
  countTask,
  createCounts,
  insertTaskRepeatIds,
  insertTasks,
  removeTasks,
  toEntryOfRow,
  updateTasks,
} from './postgres-rows.ts';
import type { TaskSeed } from './schema.ts';
import type { RequestRepeatId, StoredTask } from './store.ts';
import type { TaskEntry } from './task-text.ts';

/** Request that changes tasks. */
export type TaskWrite = TaskRequest | { restore: readonly TaskSeed[]; ifNew: boolean };

/** Task that was created or changed, number of tasks after a removal, or index of a refused seed record. */
type TaskResult = StoredTask | number | undefined;

/**
 * Creates the collection of tasks. The time of a change comes from `clock`, unless the last change has a later time.
 */
export const createTaskCollection = (clock: () => Date): Collection<TaskWrite, TaskResult> => ({
  name: 'task',
  read: (requests) => {
    const ids: number[] = [];
    const keys: string[] = [];
    for (const request of requests) {
      if ('update' in request) ids.push(request.update);
      else if ('remove' in request) ids.push(request.remove);
      else if ('create' in request && request.key) keys.push(request.key.key);
    }
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

/** Tasks after the requests that have been decided so far. */
class TaskBatch implements CurrentTasks {
  readonly #gate: Gate;
  readonly #at: Date;
  readonly #tasks: Map<number, TaskEntry | undefined>;
  readonly #keys: Map<string, RequestRepeatId & { text: string }>;
  /** Last id in the table. */
  readonly #lastStored: number;
  readonly #changed = new Set<number>();
  readonly #addedKeys: (RequestRepeatId & { text: string })[] = [];

  constructor(tasks: readonly Row[], keys: readonly Row[], gate: Gate, now: Date) {
    gate.at = Math.max(gate.at, now.getTime());
    if (gate.counts.length === 0) gate.counts = createCounts();
    this.#gate = gate;
    this.#at = new Date(gate.at);
    this.#tasks = new Map(tasks.map((row) => [row.id, toEntryOfRow(row)]));
    this.#lastStored = gate.lastId;
    this.#keys = new Map(
      keys.map(({ key, fingerprint, answer }) => [key, { key, bodyHash: fingerprint, text: answer }]),
    );
  }

  get lastId(): number {
    return this.#gate.lastId;
  }

  find(id: number): TaskEntry | undefined {
    return this.#tasks.get(id);
  }

  findKey(key: string): (RequestRepeatId & { text: string }) | undefined {
    return this.#keys.get(key);
  }

  decide(request: TaskWrite): Decision<TaskResult> {
    if ('restore' in request) return { result: this.#restore(request.restore, request.ifNew) };
    try {
      const decision = decideTask(request, this, this.#at);
      return 'change' in decision ? { result: this.#apply(decision.change) } : decision;
    } catch (error) {
      // A row written by another program may contain invalid text.
      return { refusal: error as Error };
    }
  }

  #restore(records: readonly TaskSeed[], ifNew: boolean): number | undefined {
    if (ifNew && this.lastId > 0) return undefined;
    const tasks = toSeedTasks(records, this.lastId, this.#at);
    if (typeof tasks === 'number') return tasks;
    for (const put of tasks) this.#apply({ put });
    return undefined;
  }

  #apply(change: DecidedChange): TaskResult {
    const { counts } = this.#gate;
    const [id, task] = 'put' in change ? [change.put.id, change.put] : [change.removed, undefined];
    const before = this.#tasks.get(id);
    if (before) countTask(counts, before, -1);
    if (task) countTask(counts, task, 1);
    this.#tasks.set(id, task);
    this.#changed.add(id);
    this.#gate.lastId = Math.max(this.#gate.lastId, id);
    if (task && 'created' in change) {
      const key = { ...change.created, text: task.text };
      this.#keys.set(key.key, key);
      this.#addedKeys.push(key);
    }
    return task ?? counts[0] ?? 0;
  }

  toStatements(): Statement[] {
    const removed: number[] = [];
    const updated: TaskEntry[] = [];
    const added: TaskEntry[] = [];
    for (const id of this.#changed) {
      const task = this.#tasks.get(id);
      const isStored = id <= this.#lastStored;
      if (task) (isStored ? updated : added).push(task);
      else if (isStored) removed.push(id);
    }
    return [
      ...(removed.length > 0 ? [removeTasks(removed)] : []),
      ...(updated.length > 0 ? [updateTasks(updated)] : []),
      ...(added.length > 0 ? [insertTasks(added)] : []),
      ...(this.#addedKeys.length > 0 ? [insertTaskRepeatIds(this.#addedKeys, this.#gate.at)] : []),
    ];
  }
}
