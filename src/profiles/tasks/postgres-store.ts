import { setImmediate } from 'node:timers/promises';
import { InTurn } from '../../storage/in-turn.ts';
import type { Database } from '../../storage/postgres/database.ts';
import { readPages } from '../../storage/postgres/list-pages.ts';
import { rememberedMs } from '../../storage/recent-keys.ts';
import { createTaskCollection, type TaskRequest } from './postgres-changes.ts';
import { priorities, statuses, type TaskChanges } from './schema.ts';
import type { StoredTask, TaskFilter, TaskList, TaskSearch, TaskStore } from './store.ts';
import { TaskRows, toPosition, toSet, toTitlePart } from './task.ts';

/** Tasks in a database that several instances share. */
export const createPostgresTaskStore = (database: Database, clock: () => Date): TaskStore => {
  const collection = createTaskCollection(clock);
  const write = <T>(change: TaskRequest) => database.write(collection, change) as Promise<T>;
  database.expire({ table: 'idempotency', key: 'key', at: { timestamp: 'at' }, keptMs: rememberedMs, clock });
  const inTurn = new InTurn();
  return {
    create: (fields, key) => {
      const create = () => write<StoredTask>({ create: pick(fields), key });
      return key ? inTurn.run([key.key], create) : create();
    },
    find: createFinder(database),
    update: (id, changes, expected) => write({ update: id, changes: pick(changes), expected }),
    remove: (id, expected) => write({ remove: id, expected }),
    list: createTaskLists(database),
    search: createTaskSearch(database),
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
const createTaskLists =
  (database: Database) =>
  async (filter: TaskFilter, limit: number, after = 0): Promise<TaskList> => {
    const set = toSet(filter);
    if (set === undefined) return { total: 0, count: 0, pieces: [] };
    const conditions = listConditions(filter);
    const selection = {
      table: 'task',
      conditions,
      id: conditions.length > 0 ? '(id + 0)' : 'id',
      gate: 'task',
      total: `coalesce(gate.counts[${set + 1}], 0)`,
    };
    return readPages(database, selection, limit, after, (bodies) => new TaskRows(bodies));
  };

/** Bytes of a page of a search. */
const pageBytes = 1024 * 1024;

/** As `isTitled` has it. */
const titleContains = `strpos(lower(split_part(split_part(body, ',"Description":', 1), ',"Title":', 2)), $1) > 0`;

/** Finds tasks, newest first. The number of all is kept with the gate; titles that match are counted. */
const createTaskSearch =
  (database: Database) =>
  async ({ q = '', before, limit, ...filter }: TaskSearch): Promise<TaskList> => {
    const set = toSet(filter);
    if (set === undefined) return { total: 0, count: 0, pieces: [] };
    const conditions = [...listConditions(filter), ...(q ? [titleContains] : [])];
    const toWhere = (all: string[]): string => (all.length > 0 ? `WHERE ${all.join(' AND ')}` : '');
    const older = before === undefined ? conditions : [...conditions, `id < ${before}`];
    const counted = q
      ? `(SELECT count(*) FROM signalbox.task ${toWhere(conditions)})`
      : `coalesce(gate.counts[${set + 1}], 0)`;
    const rows = await database.query({
      text: `SELECT ${counted} AS total, page.id, page.body FROM signalbox.gate AS gate LEFT JOIN LATERAL (
          SELECT id, CASE WHEN newer < ${pageBytes} THEN body END AS body FROM (
            SELECT id, body, sum(octet_length(body)) OVER (ORDER BY id DESC) - octet_length(body) AS newer FROM (
              SELECT id, body FROM signalbox.task ${toWhere(older)} ORDER BY id DESC LIMIT ${limit + 1}
            ) AS found
          ) AS sized
        ) AS page ON true
        WHERE gate.name = 'task' ORDER BY page.id DESC`,
      values: q ? [toTitlePart(q)] : [],
    });
    const found = rows.filter(({ id }) => id !== null);
    const page = found.slice(0, limit).filter(({ body }) => body !== null);
    const last = page.at(-1);
    return {
      total: Number(rows[0]?.total ?? 0),
      count: page.length,
      pieces: last ? [new TaskRows(page.map(({ body }) => body))] : [],
      ...(last && found.length > page.length && { next: last.id }),
    };
  };

/** Only numbers get into the text. */
const listConditions = ({ status, priority }: TaskFilter): string[] => [
  ...(status === undefined ? [] : [`status = ${toPosition(statuses, status)}`]),
  ...(priority === undefined ? [] : [`priority = ${toPosition(priorities, priority)}`]),
];
