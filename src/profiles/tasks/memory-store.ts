import { ownJson } from '../../http/response/json.ts';
import { toLocalTimestamp } from '../../http/response/timestamp.ts';
import type { List } from '../../storage/list.ts';
import { type NewTask, priorities, statuses, Task, type TaskChanges } from './schema.ts';
import type { TaskFilter, TaskStore } from './store.ts';
import { type Cursor, createTaskTree, readTexts, type TreeView } from './task-tree.ts';

/** One set for each combination of a status, or any, and a priority, or any: each filter has its own set. */
const setCount = (statuses.length + 1) * (priorities.length + 1);

// A task's sets are the bits of one 32-bit number.
if (setCount > 32) throw new Error(`${setCount} sets of tasks do not fit into 32 bits`);

/** Characters of a list that are joined at once, so one write sends many tasks. */
const pieceLength = 64 * 1024;

/** Number of short lists, of one piece each, that are cached. */
const mostRecent = 16;

/** Tasks in memory, in order of creation; they are lost when the server stops. */
export const createMemoryTaskStore = (clock: () => Date) => {
  const tree = createTaskTree(setCount);
  /** Cached short lists by query, until a task changes: lists are read far more often. */
  const recent = new Map<string, List<Task>>();
  let lastId = 0;
  const keep = (task: Task): Task => {
    recent.clear();
    const text = toTaskText(task);
    tree.put(task.Id, text, toMemberships(task));
    return toStoredTask(text);
  };
  const find = (id: number): Task | undefined => {
    const text = tree.find(id);
    return text === undefined ? undefined : toStoredTask(text);
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
      if (cursor.left > 0) return { total, count, pieces: readPieces(first, tree.freeze(), cursor) };
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
  } satisfies TaskStore;
};

function* readPieces(first: StoredRows, view: TreeView, cursor: Cursor): Generator<StoredRows> {
  yield first;
  while (cursor.left > 0) yield new StoredRows(readTexts(view, cursor, pieceLength));
}

/** Copies field by field: other fields that a client sends, including times, are dropped. */
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

/** The set that a filter selects; undefined if it can match nothing. Set 0 has every task. */
const toSet = ({ status, priority }: TaskFilter): number | undefined => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return row === -1 || column === -1 ? undefined : toNumber(row, column);
};

/** The sets that a task is in, as a number with one bit for each. */
const toMemberships = ({ Status, Priority }: Pick<Task, 'Status' | 'Priority'>): number => {
  const row = toPosition(statuses, Status);
  const column = toPosition(priorities, Priority);
  return 1 | (1 << toNumber(row, 0)) | (1 << toNumber(0, column)) | (1 << toNumber(row, column));
};

const toNumber = (row: number, column: number): number => row * (priorities.length + 1) + column;

/** 0 for any value, the position from 1 for a known value, -1 for an unknown one. */
const toPosition = (values: readonly string[], value: string | undefined): number => {
  if (value === undefined) return 0;
  return values.indexOf(value) + 1 || -1;
};

/** The task as JSON, its members in the order of the schema. Takes half the memory of JSON.stringify's result. */
const toTaskText = (task: Task): string => {
  const { Id, Title, Description, Priority, Status, CreatedAt, UpdatedAt } = task;
  const parts = ['{"Id":', Id, ',"Title":', JSON.stringify(Title), ',"Description":', JSON.stringify(Description)];
  parts.push(',"Priority":"', Priority, '","Status":"', Status, '","CreatedAt":"', CreatedAt);
  if (UpdatedAt !== undefined) parts.push('","UpdatedAt":"', UpdatedAt);
  parts.push('"}');
  return parts.join('');
};

/** A stored task: its JSON text, which is parsed only when a field is read. */
class StoredTask {
  readonly [ownJson]: string;

  constructor(text: string) {
    this[ownJson] = text;
  }
}

for (const field of Object.keys(Task.properties)) {
  Object.defineProperty(StoredTask.prototype, field, {
    get(this: StoredTask) {
      return JSON.parse(this[ownJson])[field];
    },
  });
}

const toStoredTask = (text: string): Task => new StoredTask(text) as unknown as Task;

/** Consecutive tasks of a list, which are sent as their joined texts. */
class StoredRows implements Iterable<Task> {
  readonly [ownJson]: string;
  readonly #texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this[ownJson] = texts.join(',');
  }

  *[Symbol.iterator](): Iterator<Task> {
    for (const text of this.#texts) yield toStoredTask(text);
  }
}
