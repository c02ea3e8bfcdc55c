import type { Row } from '../../../storage/postgres/connection.ts';
import type { Database } from '../../../storage/postgres/database.ts';
import { priorities, statuses } from '../schema.ts';
import type { TaskFilter, TaskList } from '../store.ts';
import { toPosition, toSet } from '../task-sets.ts';
import { TaskRows } from '../task-text.ts';

/** Longer lists are read with a cursor. */
const mostAtOnce = 1000;

/** Lists tasks; the number of all matches is kept beside the tasks, so it costs nothing to know. */
export const createTaskLists = (database: Database) => {
  const listSome = async (filter: TaskFilter, set: number, limit: number, after: number): Promise<TaskList> => {
    // One statement sees one moment. One row more than wanted shows whether there are more.
    const rows = await database.query({
      text: `SELECT coalesce(gate.counts[${set + 1}], 0) AS total, t.id, t.body FROM signalbox.gate AS gate
        LEFT JOIN LATERAL (${select(filter, limit + 1, after)}) AS t ON true WHERE gate.name = 'task'`,
    });
    const tasks = rows.filter(({ id }) => id !== null).slice(0, limit);
    const hasMore = rows.length > limit && tasks.length > 0;
    return {
      total: rows[0]?.total ?? 0,
      count: tasks.length,
      pieces: [toPiece(tasks)],
      ...(hasMore && { next: tasks.at(-1).id }),
    };
  };
  const listMany = async (filter: TaskFilter, set: number, limit: number, after: number): Promise<TaskList> => {
    const snapshot = await database.openSnapshot();
    const counting = after > 0 ? `(SELECT count(*) FROM (${select(filter, limit, after)}) AS t)` : 'NULL';
    const [row] = await snapshot.query({
      text: `SELECT coalesce(counts[${set + 1}], 0) AS total, ${counting} AS counted FROM signalbox.gate
        WHERE name = 'task'`,
    });
    const { total, counted } = row;
    const pieces = (async function* () {
      for await (const rows of snapshot.read(select(filter, limit, after))) yield toPiece(rows);
    })();
    return { total, count: counted ?? Math.min(total, limit), pieces };
  };
  return async (filter: TaskFilter, limit: number, after = 0): Promise<TaskList> => {
    const set = toSet(filter);
    if (set === undefined) return { total: 0, count: 0, pieces: [] };
    const list = await listSome(filter, set, Math.min(limit, mostAtOnce), after);
    return limit > mostAtOnce && list.next !== undefined ? listMany(filter, set, limit, after) : list;
  };
};

const toPiece = (rows: readonly Row[]): TaskRows => new TaskRows(rows.map(({ body }) => body));

/** Only numbers get into the text. */
const select = ({ status, priority }: TaskFilter, limit: number, after: number): string => {
  const conditions = [
    ...(status === undefined ? [] : [`status = ${toPosition(statuses, status)}`]),
    ...(priority === undefined ? [] : [`priority = ${toPosition(priorities, priority)}`]),
  ];
  const id = conditions.length > 0 ? '(id + 0)' : 'id';
  return `SELECT id, body FROM signalbox.task WHERE ${[...conditions, `${id} > ${after}`].join(' AND ')}
    ORDER BY ${id} LIMIT ${limit}`;
};
