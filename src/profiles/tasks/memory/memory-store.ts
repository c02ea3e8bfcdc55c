import { toLocalTimestamp } from '../../../http/response/timestamp.ts';
import type { List } from '../../../storage/list.ts';
import type { NewTask, Task, TaskChanges } from '../schema.ts';
import type { TaskStore } from '../store.ts';
import { StoredRows, StoredTask, toTaskText } from './stored-task.ts';
import { type Cursor, readTexts } from './task-reading.ts';
import { setCount, toMemberships, toSet } from './task-sets.ts';
import { createTaskTree, type TreeView } from './task-tree.ts';

/** Characters of a list that are put together at once: enough that one write serves many tasks. */
const pieceLength = 64 * 1024;

/** Short lists that are kept: of one piece each. */
const mostRecent = 64;

/** What this store does is done at once. */
type Immediate<S> = {
  [K in keyof S]: S[K] extends (...args: infer A) => infer R ? (...args: A) => Awaited<R> : S[K];
};

/** Tasks in memory, in order of creation; they are lost when the process ends. */
export const createMemoryTaskStore = (clock: () => Date): Immediate<TaskStore> => {
  const tree = createTaskTree(setCount);
  /** Short lists by what was asked for, until a task changes: lists are read far more often. */
  const recent = new Map<string, List<Task>>();
  let lastId = 0;
  const keep = (task: Task): Task => {
    recent.clear();
    const text = toTaskText(task);
    tree.put(task.Id, text, toMemberships(task));
    return new StoredTask(text);
  };
  const find = (id: number): Task | undefined => {
    const text = tree.find(id);
    return text === undefined ? undefined : new StoredTask(text);
  };
  return {
    create: (fields) => keep({ ...toTask(++lastId, fields, toLocalTimestamp(clock())), Status: 'Pending' }),
    find,
    update: (id, changes) => {
      const text = tree.find(id);
      return text === undefined ? undefined : keep(toUpdated(JSON.parse(text), changes, toLocalTimestamp(clock())));
    },
    remove: (id) => {
      recent.clear();
      return tree.remove(id) ? tree.count(0) : undefined;
    },
    list: (filter, limit): List<Task> => {
      const set = toSet(filter);
      if (set === undefined) return { total: 0, count: 0, pieces: [] };
      const asked = `${set} ${limit}`;
      const known = recent.get(asked);
      if (known) return known;
      const total = tree.count(set);
      const count = Math.min(total, limit);
      const cursor = { set, next: 0, left: count };
      const first = new StoredRows(readTexts(tree.view(), cursor, pieceLength));
      if (cursor.left > 0) return { total, count, pieces: readOn(first, tree.freeze(), cursor) };
      const list = { total, count, pieces: [first] };
      if (recent.size === mostRecent) recent.clear();
      recent.set(asked, list);
      return list;
    },
    restore: ({ Id = lastId + 1, CreatedAt = toLocalTimestamp(clock()), UpdatedAt, ...record }) => {
      if (Id <= lastId) return false;
      lastId = Id;
      keep({ ...toTask(Id, record, CreatedAt), ...(UpdatedAt !== undefined && { UpdatedAt }) });
      return true;
    },
    isReady: () => true,
    close: () => undefined,
  };
};

function* readOn(first: StoredRows, view: TreeView, cursor: Cursor): Generator<StoredRows> {
  yield first;
  while (cursor.left > 0) yield new StoredRows(readTexts(view, cursor, pieceLength));
}

/** Field by field: other fields that a client sends, times among them, stay outside. */
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
