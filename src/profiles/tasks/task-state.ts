import { setImmediate } from 'node:timers/promises';
import type { State } from '../../storage/changes/changes.ts';
import { entryBytes, toTextBytes } from '../../storage/length.ts';
import type { Awaitable } from '../../storage/list.ts';
import { RecentKeys } from '../../storage/recent-keys.ts';
import { priorities, statuses, type Task } from './schema.ts';
import type { RequestKey, StoredTask, TaskFilter, TaskList, TaskSearch } from './store.ts';
import {
  isTitled,
  readTaskEntry,
  readTaskId,
  setCount,
  type TaskEntry,
  TaskRows,
  toMemberships,
  toSet,
  toTaskEntry,
  toTitlePart,
} from './task.ts';
import { type Cursor, createTaskTree, measureSet, readTexts, readTextsBack, type TreeView } from './task-tree.ts';

/** Characters of a list that are joined at once, so one write sends many tasks. */
const pieceLength = 64 * 1024;

/** Characters of a page of a search. */
const pageLength = 1024 * 1024;

/** Number of short lists, of one piece each, that are cached. */
const mostRecent = 16;

/** The key of a request that created a task. */
interface TaskKey extends RequestKey {
  /** Milliseconds since 1970. */
  storedAt: number;
}

/** One change. Each says what is there afterwards, so applying one twice is the same as once. */
export type TaskChange =
  | { put: TaskEntry; created?: TaskKey }
  | { removed: number }
  /** A key, and the text of its task as it was created. Only in what `changes` lists. */
  | { key: TaskKey; text: string }
  | { lastId: number };

/** All tasks in memory, by id and filter. Applying a change returns how many tasks there are afterwards. */
interface TaskState extends State<TaskChange, number> {
  readonly lastId: number;
  find(id: number): StoredTask | undefined;
  /** The task that a request with the key has created, as it was then. */
  findKey(key: string): (TaskKey & { text: string }) | undefined;
  list(filter: TaskFilter, limit: number, after?: number): TaskList;
  search(search: TaskSearch): Awaitable<TaskList>;
}

export const createTaskState = (clock: () => Date): TaskState => {
  const tree = createTaskTree(setCount);
  /** Of the tasks that were changed; that of the others is 1. */
  const versions = new Map<number, number>();
  const keys = new RecentKeys<TaskKey & { text: string }>(clock);
  /** Cached short lists by query, until a task changes: lists are read far more often. */
  const recent = new Map<string, TaskList>();
  let lastId = 0;
  let bytes = 0;
  const bytesAt = (id: number): number => toBytes(tree.find(id));
  const remember = (key: TaskKey, text: string): void => keys.remember(key.key, { ...key, text }, text.length);
  return {
    apply: (change) => {
      if (recent.size > 0) recent.clear();
      if ('put' in change) {
        const { id, version, text } = change.put;
        lastId = Math.max(lastId, id);
        bytes += toBytes(text) - bytesAt(id);
        tree.put(id, text, toMemberships(change.put));
        if (version > 1) versions.set(id, version);
        if (change.created) remember(change.created, text);
      } else if ('removed' in change) {
        bytes -= bytesAt(change.removed);
        tree.remove(change.removed);
        versions.delete(change.removed);
      } else if ('lastId' in change) lastId = Math.max(lastId, change.lastId);
      else remember(change.key, change.text);
      return tree.count(0);
    },
    toJson,
    lengthOf: toLength,
    toChange,
    get bytes(): number {
      return bytes;
    },
    growthOf: (change) => {
      if ('removed' in change) return 0 - bytesAt(change.removed);
      return 'put' in change ? toBytes(change.put.text) - bytesAt(change.put.id) : 0;
    },
    get lastId(): number {
      return lastId;
    },
    find: (id) => {
      const text = tree.find(id);
      return text === undefined ? undefined : { id, version: versions.get(id) ?? 1, text };
    },
    findKey: (key) => keys.find(key),
    list: (filter, limit, after = 0) => {
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
    search: (search) => {
      const set = toSet(search);
      if (set === undefined) return { total: 0, count: 0, pieces: [] };
      if (search.q) return searchTitles(tree.freeze(), set, search, toTitlePart(search.q));
      const cursor = { set, next: (search.before ?? Number.MAX_SAFE_INTEGER) - 1, left: search.limit };
      const texts = readTextsBack(tree.view(), cursor, pageLength);
      const hasMore = readTextsBack(tree.view(), { ...cursor, left: 1 }, 1).length > 0;
      return toPage(texts, tree.count(set), hasMore);
    },
    *changes() {
      yield [{ lastId }];
      const cursor = { set: 0, next: 0, left: Number.MAX_SAFE_INTEGER };
      for (;;) {
        const texts = readTexts(tree.view(), cursor, pieceLength);
        if (texts.length === 0) break;
        yield texts.map((text) => ({ put: readTaskEntry(text, versions.get(readTaskId(text)) ?? 1) }));
      }
      for (const [, { text, ...key }] of keys.entries()) yield [{ key, text }];
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
      if (readTaskId(text) >= before) continue;
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
  const rest = last !== undefined && hasMore ? { next: readTaskId(last) } : {};
  return { total, count: texts.length, pieces: last === undefined ? [] : [new TaskRows(texts)], ...rest };
};

/** As the files have it since 1.0.0: with tasks, not with their texts. */
const toJson = (change: TaskChange): string => {
  if ('put' in change) {
    const created = change.created ? `,"created":${JSON.stringify(change.created)}` : '';
    return `{"task":${change.put.text},"version":${change.put.version}${created}}`;
  }
  return 'key' in change ? `{"key":${JSON.stringify(change.key)},"task":${change.text}}` : JSON.stringify(change);
};

/** Members, version and a key take up little besides the text. */
const toLength = (change: TaskChange): number => {
  const task = 'put' in change ? change.put : change;
  return 'text' in task ? task.text.length + 64 : 32;
};

/** What files may have: anything, if a newer version has written them. */
type Kept = Partial<{ removed: number; lastId: number; task: Task; version: number; created: TaskKey; key: TaskKey }>;

const toChange = (value: unknown): TaskChange | undefined => {
  const { removed, lastId, task, version, created, key } = value as Kept;
  if (removed !== undefined) return isCount(removed) ? { removed } : undefined;
  if (lastId !== undefined) return isCount(lastId) ? { lastId } : undefined;
  if (task === undefined || !isKnownTask(task)) return undefined;
  if (key !== undefined) return isKnownKey(key) ? { key, text: toTaskEntry(task, 1).text } : undefined;
  if (!isCount(version) || (created !== undefined && !isKnownKey(created))) return undefined;
  return { put: toTaskEntry(task, version), ...(created && { created }) };
};

const isKnownTask = ({ Id, Title, Description, Priority, Status, CreatedAt, UpdatedAt = '' }: Task): boolean =>
  isCount(Id) &&
  [Title, Description, CreatedAt, UpdatedAt].every(isText) &&
  priorities.includes(Priority) &&
  statuses.includes(Status);

const isKnownKey = ({ key, bodyHash, storedAt }: TaskKey): boolean =>
  [key, bodyHash].every(isText) && isCount(storedAt);

const isText = (value: unknown): boolean => typeof value === 'string';

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function* readPieces(first: TaskRows, view: TreeView, cursor: Cursor): Generator<TaskRows> {
  yield first;
  while (cursor.left > 0) yield new TaskRows(readTexts(view, cursor, pieceLength));
}
