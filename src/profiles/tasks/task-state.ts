import { setImmediate } from 'node:timers/promises';
import { entryBytes, lengthOf, toTextBytes } from '../../storage/length.ts';
import type { Awaitable } from '../../storage/list.ts';
import { RecentKeys } from '../../storage/recent-keys.ts';
import type { Versioned } from '../../storage/versions.ts';
import { priorities, statuses, type Task } from './schema.ts';
import type { TaskFilter, TaskList, TaskSearch } from './store.ts';
import { setCount, toMemberships, toSet } from './task-sets.ts';
import { isTitled, readId, TaskRows, toStoredTask, toTaskText, toTitlePart } from './task-text.ts';
import { type Cursor, createTaskTree, measureSet, readTexts, readTextsBack, type TreeView } from './task-tree.ts';

/** Characters of a list that are joined at once, so one write sends many tasks. */
const pieceLength = 64 * 1024;

/** Characters of a page of a search. */
const pageLength = 1024 * 1024;

/** Number of short lists, of one piece each, that are cached. */
const mostRecent = 16;

/** The `Idempotency-Key` of the request that created a task, and the hash of its body. */
export interface TaskKey {
  key: string;
  bodyHash: string;
  /** Milliseconds since 1970. */
  storedAt: number;
}

/** One change. Each says what is there afterwards, so applying one twice is the same as once. */
export type TaskChange =
  | { task: Task; version: number; created?: TaskKey }
  | { removed: number }
  /** A key whose task has changed since: the task as it was created. Only in what `changes` lists. */
  | { key: TaskKey; task: Task }
  | { lastId: number };

/** All tasks in memory, by id and filter. */
export const createTaskState = (clock: () => Date) => {
  const tree = createTaskTree(setCount);
  /** Of the tasks that were changed; that of the others is 1. */
  const versions = new Map<number, number>();
  const keys = new RecentKeys<TaskKey & { task: Task }>(clock);
  /** Cached short lists by query, until a task changes: lists are read far more often. */
  const recent = new Map<string, TaskList>();
  let lastId = 0;
  let bytes = 0;
  const bytesAt = (id: number): number => toBytes(tree.find(id));
  const remember = (key: TaskKey, task: Task): void => keys.remember(key.key, { ...key, task }, lengthOf(task));
  const apply = (change: TaskChange): number => {
    recent.clear();
    if ('removed' in change) {
      bytes -= bytesAt(change.removed);
      tree.remove(change.removed);
      versions.delete(change.removed);
    } else if ('lastId' in change) lastId = Math.max(lastId, change.lastId);
    else if ('key' in change) remember(change.key, change.task);
    else {
      const { task, version, created } = change;
      lastId = Math.max(lastId, task.Id);
      const text = toTaskText(task);
      bytes += toBytes(text) - bytesAt(task.Id);
      tree.put(task.Id, text, toMemberships(task));
      if (version > 1) versions.set(task.Id, version);
      if (created) remember(created, task);
    }
    return tree.count(0);
  };
  return {
    /** Returns how many tasks there are afterwards. */
    apply,
    isKnown: isKnownChange,
    get bytes(): number {
      return bytes;
    },
    growthOf: (change: TaskChange): number => {
      if ('removed' in change) return 0 - bytesAt(change.removed);
      return 'version' in change ? toBytes(toTaskText(change.task)) - bytesAt(change.task.Id) : 0;
    },
    get lastId(): number {
      return lastId;
    },
    find: (id: number): Versioned<Task> | undefined => {
      const text = tree.find(id);
      return text === undefined ? undefined : toStoredTask(text, versions.get(id) ?? 1);
    },
    findKey: (key: string) => keys.find(key),
    list: (filter: TaskFilter, limit: number, after = 0): TaskList => {
      const set = toSet(filter);
      if (set === undefined) return { total: 0, count: 0, pieces: [] };
      const asked = `${set} ${limit} ${after}`;
      const known = recent.get(asked);
      if (known) return known;
      const total = tree.count(set);
      const isAll = after === 0 && total <= limit;
      const { count, last } = isAll ? { count: total, last: 0 } : measureSet(tree.view(), set, after + 1, limit);
      const hasMore = !isAll && count > 0 && measureSet(tree.view(), set, last + 1, 1).count > 0;
      const place = hasMore ? { next: last } : {};
      const cursor = { set, next: after + 1, left: count };
      const first = new TaskRows(readTexts(tree.view(), cursor, pieceLength));
      if (cursor.left > 0) return { total, count, pieces: readPieces(first, tree.freeze(), cursor), ...place };
      const list = { total, count, pieces: [first], ...place };
      if (recent.size === mostRecent) recent.clear();
      recent.set(asked, list);
      return list;
    },
    search: (search: TaskSearch): Awaitable<TaskList> => {
      const set = toSet(search);
      if (set === undefined) return { total: 0, count: 0, pieces: [] };
      if (search.q) return searchTitles(tree.freeze(), set, search, toTitlePart(search.q));
      const cursor = { set, next: (search.before ?? Number.MAX_SAFE_INTEGER) - 1, left: search.limit };
      const texts = readTextsBack(tree.view(), cursor, pageLength);
      const hasMore = readTextsBack(tree.view(), { ...cursor, left: 1 }, 1).length > 0;
      return toPage(texts, tree.count(set), hasMore);
    },
    /**
     * Changes that lead to this state, some at a time; they may include changes that are applied meanwhile, and applying
     * those once more does no harm.
     */
    *changes(): Generator<TaskChange[]> {
      yield [{ lastId }];
      const cursor = { set: 0, next: 0, left: Number.MAX_SAFE_INTEGER };
      for (;;) {
        const texts = readTexts(tree.view(), cursor, pieceLength);
        if (texts.length === 0) break;
        const tasks = texts.map((text) => JSON.parse(text) as Task);
        yield tasks.map((task) => ({ task, version: versions.get(task.Id) ?? 1 }));
      }
      for (const [, { task, ...key }] of keys.entries()) yield [{ key, task }];
    },
  };
};

/** About the bytes that a task takes up; 0 if there is none. */
const toBytes = (text: string | undefined): number => (text === undefined ? 0 : entryBytes + toTextBytes(text));
/** Looks at every title of the set; other work goes on in between. */
const searchTitles = async (
  view: TreeView,
  set: number,
  { limit, before = Number.MAX_SAFE_INTEGER }: TaskSearch,
  part: string,
): Promise<TaskList> => {
  const cursor = { set, next: Number.MAX_SAFE_INTEGER, left: Number.MAX_SAFE_INTEGER };
  const page: string[] = [];
  let [total, room, hasMore] = [0, pageLength, false];
  for (;;) {
    const texts = readTextsBack(view, cursor, pieceLength);
    if (texts.length === 0) return toPage(page, total, hasMore);
    for (const text of texts) {
      if (!isTitled(text, part)) continue;
      total += 1;
      if (readId(text) >= before) continue;
      hasMore = page.length === limit || room <= 0;
      if (hasMore) continue;
      page.push(text);
      room -= text.length;
    }
    await setImmediate();
  }
};

const toPage = (texts: readonly string[], total: number, hasMore: boolean): TaskList => {
  const last = texts.at(-1);
  const rest = last !== undefined && hasMore ? { next: readId(last) } : {};
  return { total, count: texts.length, pieces: last === undefined ? [] : [new TaskRows(texts)], ...rest };
};

const isKnownChange = (change: TaskChange): boolean => {
  if ('removed' in change) return isCount(change.removed);
  if ('lastId' in change) return isCount(change.lastId);
  if ('key' in change) return isKnownKey(change.key) && isKnownTask(change.task);
  if (!('task' in change)) return false;
  const { task, version, created } = change;
  return isKnownTask(task) && isCount(version) && (created === undefined || isKnownKey(created));
};

const isKnownTask = ({ Id, Title, Description, Priority, Status, CreatedAt, UpdatedAt = '' }: Task): boolean =>
  isCount(Id) &&
  [Title, Description, CreatedAt, UpdatedAt].every(isText) &&
  priorities.includes(Priority) &&
  statuses.includes(Status);

const isKnownKey = ({ key, bodyHash, storedAt }: TaskKey): boolean =>
  [key, bodyHash].every(isText) && isCount(storedAt);

const isText = (value: unknown): boolean => typeof value === 'string';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function* readPieces(first: TaskRows, view: TreeView, cursor: Cursor): Generator<TaskRows> {
  yield first;
  while (cursor.left > 0) yield new TaskRows(readTexts(view, cursor, pieceLength));
}
