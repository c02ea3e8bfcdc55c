import { setImmediate } from 'node:timers/promises';
import type { Database } from '../../storage/postgres/database.ts';
import { isBodiless, readFirstPage, readPages } from '../../storage/postgres/pages.ts';
import { rememberedMs } from '../../storage/recent-entries.ts';
import { createTaskCollection, type TaskWrite } from './postgres-batch.ts';
import { priorities, statuses, type TaskChanges } from './schema.ts';
import type { StoredTask, TaskFilter, TaskMatches, TaskSearch, TaskStore } from './store.ts';
import { toPosition, toSet } from './task-sets.ts';
import { TaskRows, toTitlePart } from './task-text.ts';

/** Maximum size in bytes of a page of search results. */
const pageBytes = 1024 * 1024;

/** SQL condition that is true if the title contains a text returned by `toTitlePart`. */
const titleContains = `strpos(lower(split_part(split_part(body, ',"Description":', 1), ',"Title":', 2)), $1) > 0`;

/** Creates the store in a database that instances share. */
export const createPostgresTaskStore = (database: Database, clock: () => Date): TaskStore => {
  const collection = createTaskCollection(clock);
  const write = <T>(request: TaskWrite) => database.write(collection, request) as Promise<T>;
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
    // The owner of the database closes it.
    close: () => undefined,
  };
};

/** Returns the known fields. A client may send other fields, nested to any depth. */
const pick = <T extends TaskChanges>({ Title, Description, Priority, Status }: T): T =>
  ({ Title, Description, Priority, Status }) as T;

/**
 * Creates a function that finds tasks. All tasks requested in the same turn of the event loop are read with one
 * statement.
 */
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

/** Lists tasks. The gate contains the number of matches, so counting them costs nothing. */
const listTasks = async (database: Database, filter: TaskFilter, limit: number, after = 0): Promise<TaskMatches> => {
  const set = toSet(filter);
  if (set === undefined) return { total: 0, count: 0, pieces: [] };
  const conditions = toConditions(filter);
  const id = conditions.length > 0 ? '(id + 0)' : 'id';
  const selection = { table: 'task', conditions, id, gate: 'task', total: selectCount(set) };
  return readPages(database, selection, limit, after, (bodies) => new TaskRows(bodies));
};

/** Finds tasks, newest first, and counts the matching titles. */
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

/** Returns SQL conditions. Only numbers are taken from the request. */
const toConditions = ({ status, priority }: TaskFilter): string[] => [
  ...(status === undefined ? [] : [`status = ${toPosition(statuses, status)}`]),
  ...(priority === undefined ? [] : [`priority = ${toPosition(priorities, priority)}`]),
];

const selectCount = (set: number): string => `coalesce(gate.counts[${set + 1}], 0)`;
