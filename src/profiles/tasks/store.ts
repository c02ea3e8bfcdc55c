import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/** Where tasks are kept. Tasks are immutable: an update makes a new one, so a list that was taken stays as it was. */
export interface TaskStore {
  /** Keeps a new Pending task under the next id; ids start at 1 and are never reused. */
  create(fields: NewTask): Task;
  find(id: number): Task | undefined;
  /** The task with the changes and a new UpdatedAt; undefined when there is none. */
  update(id: number, changes: TaskChanges): Task | undefined;
  /** Tasks left after the removal; undefined when there was none. */
  remove(id: number): number | undefined;
  /** The first `limit` matches in order of creation, and how many match in all. */
  list(filter: TaskFilter, limit: number): { total: number; tasks: Task[] };
  /** Keeps a task as a seed file gives it; false when its id is not above every id so far. */
  restore(record: TaskSeed): boolean;
}
