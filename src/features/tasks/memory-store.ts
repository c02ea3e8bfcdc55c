import { setImmediate } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { InTurn } from '../../lib/scheduling.ts';
import { createSchemaCheck } from '../../lib/schema-validation.ts';
import { type EntriesState, entryBytes, type OpenChanges, toTextBytes } from '../../storage/changes.ts';
import type { Awaitable } from '../../storage/list.ts';
import { RecentKeys } from '../../storage/recent-keys.ts';
import { Task } from './schema.ts';
import {
  type CurrentTasks,
  type DecidedChange,
  decideTask,
  readTaskId,
  type StoredTask,
  setCount,
  type TaskChange,
  type TaskEntry,
  type TaskKey,
  type TaskMatches,
  type TaskRequest,
  TaskRows,
  type TaskSearch,
  type TaskStore,
  toMemberships,
  toSeedTasks,
  toSet,
  toTaskEntry,
  toTitlePart,
} from './store.ts';
import { type Cursor, createTaskTree, measureSet, readTexts, type TreeView } from './task-tree.ts';

/** Characters of a list that are joined at once, so one write sends many tasks. */
const pieceLength = 64 * 1024;

/** Characters of a page of a search. */
const pageLength = 1024 * 1024;

/** Number of short lists, of one piece each, that are cached. */
const mostRecent = 16;

/** A task as it will be once its last change is stored; undefined if it will be gone. */
interface WaitingTask {
  task: StoredTask | undefined;
  written: Promise<unknown>;
}

/** Tasks in memory, whose changes show once they are stored: the store `memory`, and the store `file`, which keeps them. */
export const openTaskStore = async (clock: () => Date, openChanges: OpenChanges): Promise<TaskStore> => {
  const state = createTaskState(clock);
  const waiting = new Map<number, WaitingTask>();
  const inTurn = new InTurn();
  let lastGivenId = 0;
  const changes = await openChanges('tasks', state, () => {
    waiting.clear();
    lastGivenId = 0;
  });
  const current: CurrentTasks = {
    get lastId(): number {
      return Math.max(lastGivenId, state.lastId);
    },
    find: (id) => {
      const next = waiting.get(id);
      return next ? next.task : state.find(id);
    },
    findKey: state.findKey,
  };
  /** Resolves to the changed task, or to the number of tasks after a removal. */
  const run = (request: TaskRequest): Awaitable<StoredTask | number | undefined> => {
    const decision = decideTask(request, current, clock());
    if ('change' in decision) return write(decision.change);
    const answer = (): StoredTask | undefined => {
      if ('refusal' in decision) throw decision.refusal;
      return decision.result;
    };
    // An answer that follows from a change that waits comes after it: until then, others read the task as it was.
    const next = 'create' in request ? undefined : waiting.get('update' in request ? request.update : request.remove);
    return next ? next.written.then(answer) : answer();
  };
  const write = (change: DecidedChange): Awaitable<StoredTask | number> => {
    const [id, task] = 'put' in change ? [change.put.id, change.put] : [change.removed, undefined];
    const written = changes.write(change);
    if (task) lastGivenId = Math.max(lastGivenId, id);
    if (!(written instanceof Promise)) return task ?? written;
    const next = { task, written };
    waiting.set(id, next);
    return written.then((count) => {
      if (waiting.get(id) === next) waiting.delete(id);
      return task ?? count;
    });
  };
  return {
    create: (fields, key) => {
      const create = () => run({ create: fields, key }) as Awaitable<StoredTask>;
      return key ? inTurn.run([key.key], create) : create();
    },
    find: state.find,
    update: (id, fields, expected) =>
      run({ update: id, changes: fields, expected }) as Awaitable<StoredTask | undefined>,
    remove: (id, expected) => run({ remove: id, expected }) as Awaitable<number | undefined>,
    list: state.list,
    search: state.search,
    restore: async (records, ifNew) => {
      if (ifNew && state.lastId > 0) return undefined;
      const tasks = toSeedTasks(records, state.lastId, clock());
      if (typeof tasks === 'number') return tasks;
      for (const task of tasks) state.apply({ put: task });
      await changes.save();
      return undefined;
    },
    isReady: () => changes.isReady(),
    close: () => changes.close(),
  };
};

/** All tasks in memory, by id and filter. Applying a change returns how many tasks there are afterwards. */
interface TaskState extends EntriesState<TaskChange, number>, CurrentTasks, Pick<TaskStore, 'list' | 'search'> {}

export const createTaskState = (clock: () => Date): TaskState => {
  const tree = createTaskTree(setCount);
  /** Of the tasks that were changed; that of the others is 1. */
  const versions = new Map<number, number>();
  const keys = new RecentKeys<TaskKey & { text: string }>(clock);
  /** Cached short lists by query, until a task changes: lists are read far more often. */
  const recent = new Map<string, TaskMatches>();
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

/** The entry of a text, which is not parsed: behind the description, no value has a quote in it. */
const readTaskEntry = (text: string, version: number): TaskEntry => {
  const statusAt = text.lastIndexOf('","Status":"');
  const priorityAt = text.lastIndexOf('"', statusAt - 1) + 1;
  const from = statusAt + '","Status":"'.length;
  const status = text.slice(from, text.indexOf('"', from)) as Task['Status'];
  const priority = text.slice(priorityAt, statusAt) as Task['Priority'];
  return { id: readTaskId(text), version, status, priority, text };
};

/** Whether the title in a task's text contains this part. Nothing is parsed: a search looks at every title. */
const isTitled = (text: string, part: string): boolean => {
  const from = text.indexOf('"Title":') + '"Title":'.length;
  return text.slice(from, text.indexOf(',"Description":', from)).toLowerCase().includes(part);
};

/** About the bytes that a task takes up; 0 if there is none. */
const toBytes = (text: string | undefined): number => (text === undefined ? 0 : entryBytes + toTextBytes(text));

/** Looks at every title of the set; other work goes on in between. */
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

/** As files have it since 1.0.0: with tasks, not with their texts. */
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

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const KeptTask = Type.Object({
  ...Task.properties,
  Id: Count,
  Title: Type.String(),
  CreatedAt: Type.String(),
  UpdatedAt: Type.Optional(Type.String()),
});
const KeptKey = Type.Object({ key: Type.String(), bodyHash: Type.String(), storedAt: Count });

/** What files have. Anything else may be of a newer version. */
const KeptChange = Type.Union([
  Type.Object({ removed: Count }),
  Type.Object({ lastId: Count }),
  Type.Object({ task: KeptTask, key: KeptKey }),
  Type.Object({ task: KeptTask, version: Count, created: Type.Optional(KeptKey) }),
]);

const isKeptChange = createSchemaCheck(KeptChange);

const toChange = (value: unknown): TaskChange | undefined => {
  if (!isKeptChange(value)) return undefined;
  const kept = value as Static<typeof KeptChange>;
  if ('removed' in kept) return { removed: kept.removed };
  if ('lastId' in kept) return { lastId: kept.lastId };
  if ('key' in kept) return { key: kept.key, text: toTaskEntry(kept.task, 1).text };
  return { put: toTaskEntry(kept.task, kept.version), ...(kept.created && { created: kept.created }) };
};

function* readPieces(first: TaskRows, view: TreeView, cursor: Cursor): Generator<TaskRows> {
  yield first;
  while (cursor.left > 0) yield new TaskRows(readTexts(view, cursor, pieceLength));
}
