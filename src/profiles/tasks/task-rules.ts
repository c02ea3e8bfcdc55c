import { StoreConflict } from '../../expected-errors.ts';
import { type Versioned, version } from '../../storage/versions.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

/** A task as it is created: every one is Pending. */
export const toNewTask = (id: number, fields: NewTask, now: string): Task => ({
  ...toTask(id, fields, now),
  Status: 'Pending',
});

/** A task of a seed file. */
export const toSeedTask = (id: number, record: TaskSeed, now: string): Task => {
  const { CreatedAt = now, UpdatedAt } = record;
  return { ...toTask(id, record, CreatedAt), ...(UpdatedAt !== undefined && { UpdatedAt }) };
};

/** Whether any version is expected, or the task's. */
export const isExpected = (task: Versioned<Task>, expected: readonly number[] | undefined): boolean =>
  expected === undefined || expected.includes(task[version]);

/** Throws StoreConflict unless the task's version is expected. */
export const assertExpected = (task: Versioned<Task>, expected: readonly number[] | undefined): void => {
  if (isExpected(task, expected)) return;
  throw new StoreConflict('The task has changed since: read it again', task[version]);
};

/** Copies field by field: other fields that a client sends, including times, are dropped. */
const toTask = (id: number, fields: NewTask, createdAt: string): Task => ({
  Id: id,
  Title: fields.Title,
  Description: fields.Description ?? '',
  Priority: fields.Priority ?? 'Medium',
  Status: fields.Status ?? 'Pending',
  CreatedAt: createdAt,
});

/** The task with the changes. */
export const toUpdated = (task: Task, changes: TaskChanges, now: string): Task => {
  const { Id, Title, Description, Priority, Status, CreatedAt } = task;
  return {
    Id,
    Title: changes.Title ?? Title,
    Description: changes.Description ?? Description,
    Priority: changes.Priority ?? Priority,
    Status: changes.Status ?? Status,
    CreatedAt,
    UpdatedAt: now,
  };
};
