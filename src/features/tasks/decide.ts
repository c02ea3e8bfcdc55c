import { RepeatRefusal, StoreConflict } from '../../lib/expected-errors.ts';
import { toLocalTimestamp } from '../../lib/local-time.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';
import type { RequestRepeatId, StoredTask } from './store.ts';
import { readTaskId, type TaskEntry, toTaskEntry } from './task-text.ts';

/** Key of a request that created a task. */
export interface TaskRepeatId extends RequestRepeatId {
  /** Milliseconds since 1970. */
  storedAt: number;
}

/**
 * Change made by a request. Contains the whole task, so that applying it twice has the same effect as applying it once.
 */
export type DecidedChange = { put: TaskEntry; created?: TaskRepeatId } | { removed: number };

/** Change made by a request, or one of the changes that restore a state. */
export type TaskChange =
  | DecidedChange
  /** Key of a request, with the text that the task had when it was created. */
  | { key: TaskRepeatId; text: string }
  | { lastId: number };

export type TaskRequest =
  | { create: NewTask; key: RequestRepeatId | undefined }
  | { update: number; changes: TaskChanges; expected: readonly number[] | undefined }
  | { remove: number; expected: readonly number[] | undefined };

/** Tasks after all earlier decisions. */
export interface CurrentTasks {
  /** Last assigned id. */
  readonly lastId: number;
  find(id: number): StoredTask | undefined;
  /** Finds the first request with a key, and the text of the task that it created. */
  findKey(key: string): { bodyHash: string; text: string } | undefined;
}

/** Decision on a request: a change, a result without a change, or a refusal. */
type TaskDecision = { change: DecidedChange } | { result: StoredTask | undefined } | { refusal: Error };

/** Decides on a request at a time. All stores use this function. */
export const decideTask = (request: TaskRequest, tasks: CurrentTasks, at: Date): TaskDecision => {
  if ('create' in request) return decideCreate(request.create, request.key, tasks, at);
  const id = 'update' in request ? request.update : request.remove;
  const task = tasks.find(id);
  if (!task) return { result: undefined };
  if (request.expected && !request.expected.includes(task.version)) {
    return { refusal: new StoreConflict('The task was changed in the meantime: read the task again', task.version) };
  }
  if ('remove' in request) return { change: { removed: id } };
  return { change: { put: toUpdated(task, request.changes, toLocalTimestamp(at)) } };
};

const decideCreate = (
  fields: NewTask,
  key: RequestRepeatId | undefined,
  tasks: CurrentTasks,
  at: Date,
): TaskDecision => {
  const known = key && tasks.findKey(key.key);
  if (known && known.bodyHash !== key.bodyHash) return { refusal: new RepeatRefusal() };
  if (known) return { result: { id: readTaskId(known.text), version: 1, text: known.text } };
  const put = toTaskEntry(toTask(tasks.lastId + 1, fields, 'Pending', toLocalTimestamp(at)), 1);
  return { change: key ? { put, created: { ...key, storedAt: at.getTime() } } : { put } };
};

/**
 * Converts seed records to tasks. If a record's id does not exceed `lastId` and all earlier ids, returns the index of
 * the first such record instead.
 */
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

/** Returns the known fields. Drops all other fields that a client sent, including times. */
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
