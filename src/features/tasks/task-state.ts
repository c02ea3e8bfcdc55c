import { setImmediate } from 'node:timers/promises';
import { type EntriesState, entryBytes, toTextBytes } from '../../storage/changes.ts';
import { RecentEntries } from '../../storage/recent-entries.ts';
import type { CurrentTasks, TaskChange, TaskRepeatId } from './decide.ts';
import type { Task } from './schema.ts';
import type { TaskMatches, TaskSearch, TaskStore } from './store.ts';
import { readTaskChange, toChangeLength, writeTaskChange } from './task-lines.ts';
import { setCount, toMemberships, toSet } from './task-sets.ts';
import { readTaskId, type TaskEntry, TaskRows, toTitlePart } from './task-text.ts';
import { type Cursor, createTaskTree, measureSet, readTexts, type TreeView } from './task-tree.ts';

/** Number of characters of a list to join, so that many tasks are sent with one write. */
const pieceLength = 64 * 1024;

/** Maximum length in characters of a page of search results. */
const pageLength = 1024 * 1024;

/** Maximum number of short lists in the cache. Each is a single piece. */
const maxRecent = 16;

/** All tasks in memory, by id and by filter. Applying a change returns the number of tasks. */
interface TaskState extends EntriesState<TaskChange, number>, CurrentTasks, Pick<TaskStore, 'list' | 'search'> {}

export const createTaskState = (clock: () => Date): TaskState => {
  const tree = createTaskTree(setCount);
  /** Versions of tasks that have been changed. All other tasks have version 1. */
  const versions = new Map<number, number>();
  const keys = new RecentEntries<TaskRepeatId & { text: string }>(clock);
  /**
   * Short lists by query. Cached until a task changes, because tasks are listed far more often than they are changed.
   */
  const recent = new Map<string, TaskMatches>();
  let lastId = 0;
  let bytes = 0;
  const bytesAt = (id: number): number => toBytes(tree.find(id));
  const remember = (key: TaskRepeatId, text: string): void => keys.remember(key.key, { ...key, text }, text.length);
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
    toJson: writeTaskChange,
    lengthOf: toChangeLength,
    toChange: readTaskChange,
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
      if (recent.size === maxRecent) recent.clear();
      recent.set(asked, list);
      return list;
    },
    search: (search) => {
      const set = toSet(search);
      if (set === undefined) return { total: 0, count: 0, pieces: [] };
      if (search.q) return searchTitles(tree.freeze(), set, search, toTitlePart(search.q));
      const { before = Number.MAX_SAFE_INTEGER, limit } = search;
      const cursor = { set, isBack: true, next: before - 1, left: limit };
      const texts = readTexts(tree.view(), cursor, pageLength);
      const hasMore = readTexts(tree.view(), { ...cursor, left: 1 }, 1).length > 0;
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

/**
 * Reads an entry from its JSON without parsing it. This works because no value after the description contains a quote.
 */
const readTaskEntry = (text: string, version: number): TaskEntry => {
  const statusAt = text.lastIndexOf('","Status":"');
  const priorityAt = text.lastIndexOf('"', statusAt - 1) + 1;
  const from = statusAt + '","Status":"'.length;
  const status = text.slice(from, text.indexOf('"', from)) as Task['Status'];
  const priority = text.slice(priorityAt, statusAt) as Task['Priority'];
  return { id: readTaskId(text), version, status, priority, text };
};

/**
 * True if the title in a task's JSON contains the text. Does not parse the JSON, because a search reads every title.
 */
const isTitled = (text: string, part: string): boolean => {
  const from = text.indexOf('"Title":') + '"Title":'.length;
  return text.slice(from, text.indexOf(',"Description":', from)).toLowerCase().includes(part);
};

/** Returns the approximate size of a task in memory, in bytes. 0 for undefined. */
const toBytes = (text: string | undefined): number => (text === undefined ? 0 : entryBytes + toTextBytes(text));

/** Searches all titles in a set, in steps that let other work run. */
const searchTitles = async (
  view: TreeView,
  set: number,
  { limit, before = Number.MAX_SAFE_INTEGER }: TaskSearch,
  part: string,
): Promise<TaskMatches> => {
  const cursor = { set, isBack: true, next: Number.MAX_SAFE_INTEGER, left: Number.MAX_SAFE_INTEGER };
  const page: string[] = [];
  let [total, room, hasMore] = [0, pageLength, false];
  for (;;) {
    const texts = readTexts(view, cursor, pieceLength);
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

const toPage = (texts: readonly string[], total: number, hasMore: boolean): TaskMatches => {
  const last = texts.at(-1);
  const rest = last !== undefined && hasMore ? { next: readTaskId(last) } : {};
  return { total, count: texts.length, pieces: last === undefined ? [] : [new TaskRows(texts)], ...rest };
};

function* readPieces(first: TaskRows, view: TreeView, cursor: Cursor): Generator<TaskRows> {
  yield first;
  while (cursor.left > 0) yield new TaskRows(readTexts(view, cursor, pieceLength));
}
