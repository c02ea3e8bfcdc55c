import { setImmediate } from 'node:timers/promises';
import { type Collection, type Decision, type Gate, toColumns } from '../../storage/postgres/batch.ts';
import type { Row, Statement } from '../../storage/postgres/connection.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { isBodiless, readFirstPage, readPages } from '../../storage/postgres/pages.ts';
import { rememberedMs } from '../../storage/recent-keys.ts';
import { priorities, statuses, type Task, type TaskChanges, type TaskSeed } from './schema.ts';
import {
  type CurrentTasks,
  type DecidedChange,
  decideTask,
  type RequestKey,
  type StoredTask,
  setCount,
  type TaskEntry,
  type TaskFilter,
  type TaskMatches,
  type TaskRequest,
  TaskRows,
  type TaskSearch,
  type TaskStore,
  toMemberships,
  toPosition,
  toSeedTasks,
  toSet,
  toTitlePart,
} from './store.ts';

/** Bytes of a page of a search. */
const pageBytes = 1024 * 1024;

/** Whether a title contains a part of `toTitlePart`. */
const titleContains = `strpos(lower(split_part(split_part(body, ',"Description":', 1), ',"Title":', 2)), $1) > 0`;

/** What the database decides, together with changes of other instances. */
type Asked = TaskRequest | { restore: readonly TaskSeed[]; ifNew: boolean };

/** The task that was created or changed, the number of tasks after a removal, or the index of a refused seed record. */
type Answer = StoredTask | number | undefined;

/** Tasks in a database that several instances share. */
export const createPostgresTaskStore = (database: Database, clock: () => Date): TaskStore => {
  const collection = createTaskCollection(clock);
  const write = <T>(asked: Asked) => database.write(collection, asked) as Promise<T>;
  database.expire({ table: 'idempotency', key: 'key', at: { timestamp: 'at' }, keptMs: rememberedMs, clock });
  return {
    create: (fields, key) => write({ create: pick(fields), key }),
    find: createFinder(database),
    update: (id, changes, expected) => write({ update: id, changes: pick(changes), expected }),
    remove: (id, expected) => write({ remove: id, expected }),
    list: (filter, limit, after) => listTasks(database, filter, limit, after),
    search: (search) => searchTasks(database, search),
    restore: (records, ifNew = false) => write({ restore: records, ifNew }),
    isReady: () => database.isReady(),
    // The database is closed by who has opened it.
    close: () => undefined,
  };
};

/** The known fields alone: a client may send others, of any depth. */
const pick = <T extends TaskChanges>({ Title, Description, Priority, Status }: T): T =>
  ({ Title, Description, Priority, Status }) as T;

/** Finds tasks: those that are asked for in one turn of the event loop with one statement. */
const createFinder = (database: Database) => {
  let wanted: number[] = [];
  let found: Promise<Map<number, StoredTask>> | undefined;
  const readWanted = async (): Promise<Map<number, StoredTask>> => {
    await setImmediate();
    const ids = wanted;
    wanted = [];
    found = undefined;
    const rows = await database.query({
      isPrepared: true,
      text: 'SELECT id, version, body AS text FROM signalbox.task WHERE id = ANY($1)',
      values: [ids],
    });
    return new Map(rows.map((row: StoredTask) => [row.id, row]));
  };
  return async (id: number): Promise<StoredTask | undefined> => {
    wanted.push(id);
    found ??= readWanted();
    return (await found).get(id);
  };
};

/** Lists tasks; the number of all matches is kept with the gate, so it costs nothing to know. */
const listTasks = async (database: Database, filter: TaskFilter, limit: number, after = 0): Promise<TaskMatches> => {
  const set = toSet(filter);
  if (set === undefined) return { total: 0, count: 0, pieces: [] };
  const conditions = toConditions(filter);
  const id = conditions.length > 0 ? '(id + 0)' : 'id';
  const selection = { table: 'task', conditions, id, gate: 'task', total: selectCount(set) };
  return readPages(database, selection, limit, after, (bodies) => new TaskRows(bodies));
};

/** Finds tasks, newest first. Titles that match are counted. */
const searchTasks = async (
  database: Database,
  { q = '', before = Number.MAX_SAFE_INTEGER, limit, ...filter }: TaskSearch,
): Promise<TaskMatches> => {
  const set = toSet(filter);
  if (set === undefined) return { total: 0, count: 0, pieces: [] };
  const conditions = [...toConditions(filter), ...(q ? [titleContains] : [])];
  const total = q ? `(SELECT count(*) FROM signalbox.task WHERE ${conditions.join(' AND ')})` : selectCount(set);
  const values = q ? [toTitlePart(q)] : [];
  const selection = { table: 'task', conditions, values, id: 'id', isBack: true, gate: 'task', total };
  const found = await readFirstPage(database, selection, limit, before, pageBytes);
  const page = found.rows.slice(0, limit).filter((row) => !isBodiless(row));
  const last = page.at(-1);
  return {
    total: found.total,
    count: page.length,
    pieces: last ? [new TaskRows(page.map(({ body }) => body))] : [],
    ...(last && found.rows.length > page.length && { next: last.id }),
  };
};

/** Only numbers get into the text. */
const toConditions = ({ status, priority }: TaskFilter): string[] => [
  ...(status === undefined ? [] : [`status = ${toPosition(statuses, status)}`]),
  ...(priority === undefined ? [] : [`priority = ${toPosition(priorities, priority)}`]),
];

const selectCount = (set: number): string => `coalesce(gate.counts[${set + 1}], 0)`;

/** Changes of tasks; times are those of `clock`, or of the last change if that was later. */
const createTaskCollection = (clock: () => Date): Collection<Asked, Answer> => ({
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

/** Tasks as they are after the requests that were decided so far. */
class TaskBatch implements CurrentTasks {
  readonly #gate: Gate;
  readonly #at: Date;
  readonly #tasks: Map<number, TaskEntry | undefined>;
  readonly #keys: Map<string, RequestKey & { text: string }>;
  /** The last id in the table, the tasks that were changed, and the keys that were added. */
  readonly #lastStored: number;
  readonly #changed = new Set<number>();
  readonly #addedKeys: (RequestKey & { text: string })[] = [];

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

  findKey(key: string): (RequestKey & { text: string }) | undefined {
    return this.#keys.get(key);
  }

  decide(asked: Asked): Decision<Answer> {
    if ('restore' in asked) return { result: this.#restore(asked.restore, asked.ifNew) };
    try {
      const decision = decideTask(asked, this, this.#at);
      return 'change' in decision ? { result: this.#apply(decision.change) } : decision;
    } catch (error) {
      // A row that somebody else has written may have no task in it.
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

  #apply(change: DecidedChange): Answer {
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
      ...(this.#addedKeys.length > 0 ? [insertTaskKeys(this.#addedKeys, this.#gate.at)] : []),
    ];
  }
}

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

const updateTasks = (tasks: readonly TaskEntry[]): Statement => ({
  isPrepared: true,
  text: `UPDATE signalbox.task AS t SET status = u.status, priority = u.priority, version = u.version, body = u.body
    FROM ${columns} WHERE t.id = u.id`,
  values: toTaskColumns(tasks),
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
  values: [...toColumns(keys, 'key', 'bodyHash', 'text'), at / 1000],
});
