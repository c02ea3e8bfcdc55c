import { toLocalTimestamp } from '../../http/response/timestamp.ts';
import type { NewTask, Task, TaskChanges } from './schema.ts';
import type { TaskSelection, TaskStore } from './store.ts';
import { createJoins } from './task-joins.ts';
import { type Reading, readTexts } from './task-reading.ts';
import { setCount, toMemberships, toSet } from './task-sets.ts';
import { readTaskText, toTaskText } from './task-text.ts';
import { createTaskTree, type TreeView } from './task-tree.ts';

/** Characters of a list that are put together at once: enough that one write serves many tasks. */
const pieceLength = 64 * 1024;

const nothing: TaskSelection = { total: 0, count: 0, first: '', isAscii: true, rest: undefined };

/** Tasks in memory, in order of creation; they are gone when the process ends. */
export const createMemoryTaskStore = (clock: () => Date): TaskStore => {
  const tree = createTaskTree(setCount);
  const joins = createJoins();
  let lastId = 0;
  const keep = (task: Task): string => {
    const text = toTaskText(task);
    tree.put(task.Id, text, toMemberships(task, text));
    return text;
  };
  return {
    create: (fields) => keep({ ...toTask(++lastId, fields, toLocalTimestamp(clock())), Status: 'Pending' }),
    find: tree.find,
    update: (id, changes) => {
      const text = tree.find(id);
      return text && keep(toUpdated(readTaskText(text), changes, toLocalTimestamp(clock())));
    },
    remove: (id) => (tree.remove(id) ? tree.count(0) : undefined),
    list: (filter, limit) => {
      const set = toSet(filter);
      if (set === undefined) return nothing;
      const total = tree.count(set);
      const count = Math.min(total, limit);
      const reading = { set, next: 0, left: count, space: pieceLength, joins };
      const { text: first, isAscii } = readTexts(tree.view(), reading);
      const rest = reading.left > 0 ? readOn(tree.freeze(), { ...reading, joins: undefined }) : undefined;
      return { total, count, first, isAscii, rest };
    },
    restore: ({ Id = lastId + 1, CreatedAt = toLocalTimestamp(clock()), UpdatedAt, ...record }) => {
      if (Id <= lastId) return false;
      lastId = Id;
      keep({ ...toTask(Id, record, CreatedAt), ...(UpdatedAt !== undefined && { UpdatedAt }) });
      return true;
    },
  };
};

function* readOn(view: TreeView, reading: Reading): Generator<string> {
  while (reading.left > 0) {
    reading.space = pieceLength;
    yield `,${readTexts(view, reading).text}`;
  }
}

/** Field by field: what else a client sends, times among it, stays outside. */
const toTask = (id: number, fields: NewTask, createdAt: string): Task => ({
  Id: id,
  Title: fields.Title,
  Description: fields.Description ?? '',
  Priority: fields.Priority ?? 'Medium',
  Status: fields.Status ?? 'Pending',
  CreatedAt: createdAt,
});

const toUpdated = (task: Task, changes: TaskChanges, now: string): Task => ({
  Id: task.Id,
  Title: changes.Title ?? task.Title,
  Description: changes.Description ?? task.Description,
  Priority: changes.Priority ?? task.Priority,
  Status: changes.Status ?? task.Status,
  CreatedAt: task.CreatedAt,
  UpdatedAt: now,
});
