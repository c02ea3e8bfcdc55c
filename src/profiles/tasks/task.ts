import { KeyRefusal, StoreConflict } from '../../expected-errors.ts';
import { ownJson } from '../../http/json.ts';
import { type NewTask, priorities, statuses, type Task, type TaskChanges, type TaskSeed } from './schema.ts';
import type { RequestKey, StoredTask, TaskFilter } from './store.ts';

/** A task to store, with what filters look at. */
export interface TaskEntry extends StoredTask {
  readonly status: Task['Status'];
  readonly priority: Task['Priority'];
}

export const toTaskEntry = (task: Task, version: number): TaskEntry => ({
  ...{ id: task.Id, version, status: task.Status, priority: task.Priority },
  text: toTaskText(task),
});

/** A task as it is created: every one is Pending. */
export const toNewTask = (id: number, fields: NewTask, now: string): TaskEntry =>
  toTaskEntry(toTask(id, fields, 'Pending', now), 1);

/** The task with the changes. */
export const toUpdated = ({ text, version }: StoredTask, changes: TaskChanges, now: string): TaskEntry => {
  const { Id, Title, Description, Priority, Status, CreatedAt } = JSON.parse(text) as Task;
  const updated = {
    Id,
    Title: changes.Title ?? Title,
    Description: changes.Description ?? Description,
    Priority: changes.Priority ?? Priority,
    Status: changes.Status ?? Status,
    CreatedAt,
    UpdatedAt: now,
  };
  return toTaskEntry(updated, version + 1);
};

/** The tasks of a seed file; the index of the first whose id is not above `lastId` and the ids before it, if there is one. */
export const toSeedTasks = (records: readonly TaskSeed[], lastId: number, now: string): TaskEntry[] | number => {
  const tasks: TaskEntry[] = [];
  let last = lastId;
  for (const [index, record] of records.entries()) {
    const { Id = last + 1, Status = 'Pending', CreatedAt = now, UpdatedAt } = record;
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

/** Whether any version is expected, or the task's. */
export const isExpected = ({ version }: StoredTask, expected: readonly number[] | undefined): boolean =>
  expected === undefined || expected.includes(version);

/** Throws StoreConflict unless the task's version is expected. */
export const assertExpected = (task: StoredTask, expected: readonly number[] | undefined): void => {
  if (isExpected(task, expected)) return;
  throw new StoreConflict('The task has changed since: read it again', task.version);
};

/** What a key stands for: the task as the first request with it has created it. Throws KeyRefusal for another body. */
export const toKnownTask = (known: { bodyHash: string; text: string }, { bodyHash }: RequestKey): StoredTask => {
  if (known.bodyHash !== bodyHash) throw new KeyRefusal();
  return { id: readTaskId(known.text), version: 1, text: known.text };
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

/** The entry of a text, which is not parsed: behind the description, no value has a quote in it. */
export const readTaskEntry = (text: string, version: number): TaskEntry => {
  const statusAt = text.lastIndexOf('","Status":"');
  const priorityAt = text.lastIndexOf('"', statusAt - 1) + 1;
  const from = statusAt + '","Status":"'.length;
  const status = text.slice(from, text.indexOf('"', from)) as Task['Status'];
  return {
    id: readTaskId(text),
    version,
    status,
    priority: text.slice(priorityAt, statusAt) as Task['Priority'],
    text,
  };
};

/** What to look for in the text of a title, as `isTitled` and the database compare it: JSON, in lower case. */
export const toTitlePart = (q: string): string => JSON.stringify(q.toLowerCase()).slice(1, -1);

/** Whether the title in a task's text contains this part. Nothing is parsed: a search looks at every title. */
export const isTitled = (text: string, part: string): boolean => {
  const from = text.indexOf('"Title":') + '"Title":'.length;
  return text.slice(from, text.indexOf(',"Description":', from)).toLowerCase().includes(part);
};

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
export const toPosition = (values: readonly string[], value: string | undefined): number => {
  if (value === undefined) return 0;
  return values.indexOf(value) + 1 || -1;
};

const toSetNumber = (row: number, column: number): number => row * (priorities.length + 1) + column;
