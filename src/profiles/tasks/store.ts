import type { Awaitable, List } from '../../storage/list.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/**
 * Where tasks are kept. Every method throws StoreUnavailable while the store cannot be used; nothing is changed then,
 * unless the error says otherwise.
 */
export interface TaskStore {
  /** Keeps a new Pending task under the next id; ids start at 1, have no gaps and are never reused. */
  create(fields: NewTask): Awaitable<Task>;
  find(id: number): Awaitable<Task | undefined>;
  /** The task with the changes and a new UpdatedAt; undefined when there is none. */
  update(id: number, changes: TaskChanges): Awaitable<Task | undefined>;
  /** Tasks left after the removal; undefined when there was none. */
  remove(id: number): Awaitable<number | undefined>;
  /** At most `limit` matches, in order of creation. */
  list(filter: TaskFilter, limit: number): Awaitable<List<Task>>;
  /** Keeps a task as a seed file gives it; false when its id is not above every id so far. */
  restore(record: TaskSeed): Awaitable<boolean>;
  /** Whether tasks can be read and changed at the moment. */
  isReady(): Awaitable<boolean>;
  /** Finishes what was begun and lets go of files and connections. */
  close(): Awaitable<void>;
}
