import type { NewTask, TaskChanges, TaskSeed } from './schema.ts';

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/** The first matches in order of creation, as they were when the list was asked for. */
export interface TaskSelection {
  /** How many tasks match, and how many of them are in the list. */
  total: number;
  count: number;
  /** The tasks as JSON, joined by commas, up to the first piece's length. */
  first: string;
  /** Whether that is ASCII. */
  isAscii: boolean;
  /** The pieces behind it, each with its comma in front; undefined where there are none. */
  rest: Iterable<string> | undefined;
}

/** Where tasks are kept. What comes back is the task as JSON text, as it is answered. */
export interface TaskStore {
  /** Keeps a new Pending task under the next id; ids start at 1 and are never reused. */
  create(fields: NewTask): string;
  find(id: number): string | undefined;
  /** The task with the changes and a new UpdatedAt; undefined when there is none. */
  update(id: number, changes: TaskChanges): string | undefined;
  /** Tasks left after the removal; undefined when there was none. */
  remove(id: number): number | undefined;
  /** At most `limit` matches. What happens to tasks while the list is read does not change it. */
  list(filter: TaskFilter, limit: number): TaskSelection;
  /** Keeps a task as a seed file gives it; false when its id is not above every id so far. */
  restore(record: TaskSeed): boolean;
}
