import { ownJson } from '../../http/json.ts';
import { KeyRefusal, StoreConflict } from '../../lib/expected-errors.ts';
import { toLocalTimestamp } from '../../lib/local-time.ts';
import type { Awaitable, List } from '../../storage/list.ts';
import { type NewTask, priorities, statuses, type Task, type TaskChanges, type TaskSeed } from './schema.ts';

/** A task as a store keeps it. */
export interface StoredTask {
  readonly id: number;
  /** How often it has been written, from 1. */
  readonly version: number;
  /** Its JSON, which is sent as it is. */
  readonly text: string;
}

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/** What to look for, newest first. */
export interface TaskSearch extends TaskFilter {
  /** Only titles that contain this, in any case. */
  q?: string | undefined;
  /** Only ids below this. */
  before?: number | undefined;
  limit: number;
}

/** The `Idempotency-Key` of a request, and a hash of its body. */
export interface RequestKey {
  key: string;
  bodyHash: string;
}

/** Matches of a filter, and the id after which the next ones begin (or before which, newest first), if there are more. */
export interface TaskMatches extends List<Task> {
  next?: number;
}

/**
 * Stores tasks. Every method throws StoreUnavailable while the store cannot be used; nothing has changed then, unless
 * the error says otherwise.
 */
export interface TaskStore {
  /**
   * Stores a new Pending task under the next id; ids start at 1, have no gaps and are never reused. With a key, the same
   * key and body return the same task again for 24 hours; throws KeyRefusal for another body.
   */
  create(fields: NewTask, key?: RequestKey): Awaitable<StoredTask>;
  find(id: number): Awaitable<StoredTask | undefined>;
  /**
   * The task with the changes and a new UpdatedAt; undefined if it does not exist. Throws StoreConflict if `expected` is
   * given and does not have its version.
   */
  update(id: number, changes: TaskChanges, expected?: readonly number[]): Awaitable<StoredTask | undefined>;
  /** The number of tasks left; undefined if the task did not exist. Throws StoreConflict as `update` does. */
  remove(id: number, expected?: readonly number[]): Awaitable<number | undefined>;
  /** At most `limit` matches with ids above `after`, in order of creation; `total` counts all matches. */
  list(filter: TaskFilter, limit: number, after?: number): Awaitable<TaskMatches>;
  /** At most `limit` matches and about 1 MiB of them, newest first; `total` counts all matches, whatever `before` is. */
  search(search: TaskSearch): Awaitable<TaskMatches>;
  /**
   * Stores tasks with their ids and times, with `ifNew` only if there never was a task; the index of the first whose id is
   * not above every id before, if there is one.
   */
  restore(records: readonly TaskSeed[], ifNew?: boolean): Promise<number | undefined>;
  /** Whether tasks can be read and changed at the moment. */
  isReady(): Awaitable<boolean>;
  /** Completes work in progress and releases files and connections. */
  close(): Awaitable<void>;
}

/** A task to store, with what filters look at. */
export interface TaskEntry extends StoredTask {
  readonly status: Task['Status'];
  readonly priority: Task['Priority'];
}

/** The key of a request that created a task. */
export interface TaskKey extends RequestKey {
  /** Milliseconds since 1970. */
  storedAt: number;
}

/** A change that a request leads to. It says what is there afterwards, so applying it twice is the same as once. */
export type DecidedChange = { put: TaskEntry; created?: TaskKey } | { removed: number };

/** Any change, also those by which a state is listed. */
export type TaskChange =
  | DecidedChange
  /** A key, and the text of its task as it was created. */
  | { key: TaskKey; text: string }
  | { lastId: number };

/** What a request asks for. */
export type TaskRequest =
  | { create: NewTask; key: RequestKey | undefined }
  | { update: number; changes: TaskChanges; expected: readonly number[] | undefined }
  | { remove: number; expected: readonly number[] | undefined };

/** Tasks as they are after all that was decided before. */
export interface CurrentTasks {
  /** The last id that was given. */
  readonly lastId: number;
  find(id: number): StoredTask | undefined;
  /** What is known of a key: the body of the first request with it, and the text of the task that it has created. */
  findKey(key: string): { bodyHash: string; text: string } | undefined;
}

/** What a request leads to: a change, an answer without one, or the error that refuses it. */
type TaskDecision = { change: DecidedChange } | { result: StoredTask | undefined } | { refusal: Error };

/** Decides what a request changes at a time: the rules of all stores. */
export const decideTask = (request: TaskRequest, tasks: CurrentTasks, at: Date): TaskDecision => {
  if ('create' in request) return decideCreate(request.create, request.key, tasks, at);
  const id = 'update' in request ? request.update : request.remove;
  const task = tasks.find(id);
  if (!task) return { result: undefined };
  if (request.expected && !request.expected.includes(task.version)) {
    return { refusal: new StoreConflict('The task has changed since: read it again', task.version) };
  }
  if ('remove' in request) return { change: { removed: id } };
  return { change: { put: toUpdated(task, request.changes, toLocalTimestamp(at)) } };
};

const decideCreate = (fields: NewTask, key: RequestKey | undefined, tasks: CurrentTasks, at: Date): TaskDecision => {
  const known = key && tasks.findKey(key.key);
  if (known && known.bodyHash !== key.bodyHash) return { refusal: new KeyRefusal() };
  if (known) return { result: { id: readTaskId(known.text), version: 1, text: known.text } };
  const put = toTaskEntry(toTask(tasks.lastId + 1, fields, 'Pending', toLocalTimestamp(at)), 1);
  return { change: key ? { put, created: { ...key, storedAt: at.getTime() } } : { put } };
};

/** The tasks of a seed file; the index of the first whose id is not above `lastId` and the ids before it, if there is one. */
export const toSeedTasks = (records: readonly TaskSeed[], lastId: number, at: Date): TaskEntry[] | number => {
  const tasks: TaskEntry[] = [];
  let last = lastId;
  for (const [index, record] of records.entries()) {
    const { Id = last + 1, Status = 'Pending', CreatedAt = toLocalTimestamp(at), UpdatedAt } = record;
    if (Id <= last) return index;
    last = Id;
    const task = toTask(Id, record, Status, CreatedAt);
    tasks.push(toTaskEntry(UpdatedAt === undefined ? task : { ...task, UpdatedAt }, 1));
  }
  return tasks;
};

/** Copies field by field: other fields that a client sends, including times, are dropped. */
const toTask = (
  Id: number,
  { Title, Description = '', Priority = 'Medium' }: NewTask,
  Status: Task['Status'],
  CreatedAt: string,
): Task => ({ Id, Title, Description, Priority, Status, CreatedAt });

const toUpdated = ({ text, version }: StoredTask, changes: TaskChanges, now: string): TaskEntry => {
  const task: Task = JSON.parse(text);
  const updated = {
    Id: task.Id,
    Title: changes.Title ?? task.Title,
    Description: changes.Description ?? task.Description,
    Priority: changes.Priority ?? task.Priority,
    Status: changes.Status ?? task.Status,
    CreatedAt: task.CreatedAt,
    UpdatedAt: now,
  };
  return toTaskEntry(updated, version + 1);
};

export const toTaskEntry = (task: Task, version: number): TaskEntry => {
  const { Id: id, Status: status, Priority: priority } = task;
  return { id, version, status, priority, text: toTaskText(task) };
};

/** The task as JSON, its members in the order of the schema. Takes half the memory of JSON.stringify's result. */
const toTaskText = ({ Id, Title, Description, Priority, Status, CreatedAt, UpdatedAt }: Task): string => {
  const parts = ['{"Id":', Id, ',"Title":', JSON.stringify(Title), ',"Description":', JSON.stringify(Description)];
  parts.push(',"Priority":"', Priority, '","Status":"', Status, '","CreatedAt":"', CreatedAt);
  if (UpdatedAt !== undefined) parts.push('","UpdatedAt":"', UpdatedAt);
  parts.push('"}');
  return parts.join('');
};

/** The id in a task's text. */
export const readTaskId = (text: string): number => Number.parseInt(text.slice('{"Id":'.length, 24), 10);

/** What to look for in the text of a title, as stores compare it: JSON, in lower case. */
export const toTitlePart = (q: string): string => JSON.stringify(q.toLowerCase()).slice(1, -1);

/** Consecutive tasks of a list, which are sent as their joined texts. */
export class TaskRows implements Iterable<Task> {
  readonly [ownJson]: string;
  readonly #texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this[ownJson] = texts.join(',');
  }

  *[Symbol.iterator](): Iterator<Task> {
    for (const text of this.#texts) yield JSON.parse(text);
  }
}

/** One set for each combination of a status, or any, and a priority, or any: each filter has its own set. */
export const setCount = (statuses.length + 1) * (priorities.length + 1);

// A task's sets are the bits of one 32-bit number.
if (setCount > 32) throw new Error(`${setCount} sets of tasks do not fit into 32 bits`);

/** The set that a filter selects; undefined if it can match nothing. Set 0 has every task. */
export const toSet = ({ status, priority }: TaskFilter): number | undefined => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return row === -1 || column === -1 ? undefined : toSetNumber(row, column);
};

/** The sets that a task is in, as a number with one bit for each. */
export const toMemberships = ({ status, priority }: Pick<TaskEntry, 'status' | 'priority'>): number => {
  const row = toPosition(statuses, status);
  const column = toPosition(priorities, priority);
  return 1 | (1 << toSetNumber(row, 0)) | (1 << toSetNumber(0, column)) | (1 << toSetNumber(row, column));
};

/** 0 for any value, the position from 1 for a known value, -1 for an unknown one. */
export const toPosition = (values: readonly string[], value: string | undefined): number =>
  value === undefined ? 0 : values.indexOf(value) + 1 || -1;

const toSetNumber = (row: number, column: number): number => row * (priorities.length + 1) + column;
