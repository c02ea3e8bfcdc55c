import type { Awaitable, List } from '../../storage/list.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

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

/** A list, and the id after which the next one begins (or before which, newest first), if there is more. */
export interface TaskList extends List<Task> {
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
  list(filter: TaskFilter, limit: number, after?: number): Awaitable<TaskList>;
  /** At most `limit` matches and about 1 MiB of them, newest first; `total` counts all matches, whatever `before` is. */
  search(search: TaskSearch): Awaitable<TaskList>;
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
