import type { Database } from '../../../storage/postgres/database.ts';
import { readPages } from '../../../storage/postgres/reading/list-pages.ts';
import { priorities, statuses } from '../schema.ts';
import type { TaskFilter, TaskList } from '../store.ts';
import { toPosition, toSet } from '../task-sets.ts';
import { TaskRows } from '../task-text.ts';

/** Lists tasks; the number of all matches is kept with the gate, so it costs nothing to know. */
export const createTaskLists =
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
    const { pages, ...list } = await readPages(database, selection, limit, after);
    return { ...list, pieces: Array.isArray(pages) ? pages.map((bodies) => new TaskRows(bodies)) : toPieces(pages) };
  };

/** Only numbers get into the text. */
const listConditions = ({ status, priority }: TaskFilter): string[] => [
  ...(status === undefined ? [] : [`status = ${toPosition(statuses, status)}`]),
  ...(priority === undefined ? [] : [`priority = ${toPosition(priorities, priority)}`]),
];

async function* toPieces(pages: AsyncIterable<string[]>): AsyncGenerator<TaskRows> {
  for await (const bodies of pages) yield new TaskRows(bodies);
}
