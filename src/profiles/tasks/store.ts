import type { Awaitable, List } from '../../storage/list.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/**
 * Stores tasks. Every method throws StoreUnavailable while the store cannot be used; nothing has changed then, unless
 * the error says otherwise.
 */
export interface TaskStore {
  /** Stores a new Pending task under the next id; ids start at 1, have no gaps and are never reused. */
  create(fields: NewTask): Awaitable<Task>;
  find(id: number): Awaitable<Task | undefined>;
  /** The task with the changes and a new UpdatedAt; undefined if it does not exist. */
  update(id: number, changes: TaskChanges): Awaitable<Task | undefined>;
  /** The number of tasks left; undefined if the task did not exist. */
  remove(id: number): Awaitable<number | undefined>;
  /** At most `limit` matches, in order of creation. */
  list(filter: TaskFilter, limit: number): Awaitable<List<Task>>;
  /** Stores a task from a seed file; false if its id is not above every id so far. */
  restore(record: TaskSeed): Awaitable<boolean>;
  /** Whether tasks can be read and changed at the moment. */
  isReady(): Awaitable<boolean>;
  /** Completes work in progress and releases files and connections. */
  close(): Awaitable<void>;
}
