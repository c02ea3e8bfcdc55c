import type { Awaitable, List } from '../../storage/list.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

/** Stored task. */
export interface StoredTask {
  readonly id: number;
  /** Number of writes, from 1. */
  readonly version: number;
  /** JSON of the task, as responses have it. */
  readonly text: string;
}

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/** Search, newest first. */
export interface TaskSearch extends TaskFilter {
  /** Text that titles must contain, in any case. */
  q?: string | undefined;
  /** Id below which tasks are searched. */
  before?: number | undefined;
  limit: number;
}

/** `Idempotency-Key` of a request, and a hash of its body. */
export interface RequestKey {
  key: string;
  bodyHash: string;
}

/** Matches of a filter. `next` is the id after which further matches begin, or before which in a search. */
export interface TaskMatches extends List<Task> {
  next?: number;
}

/**
 * Stores tasks. Every method throws StoreUnavailable while the store is unavailable; nothing has changed then, unless the error
 * says so.
 */
export interface TaskStore {
  /**
   * Stores a new Pending task under the next id; ids start at 1, have no gaps and are never reused. For 24 hours, the same key and
   * body return the same task; throws KeyRefusal for another body.
   */
  create(fields: NewTask, key?: RequestKey): Awaitable<StoredTask>;
  find(id: number): Awaitable<StoredTask | undefined>;
  /** Changes a task and its UpdatedAt; undefined without the task. Throws StoreConflict if `expected` lacks the version. */
  update(id: number, changes: TaskChanges, expected?: readonly number[]): Awaitable<StoredTask | undefined>;
  /** Deletes a task; returns the number of tasks left, undefined without the task. Throws StoreConflict as `update` does. */
  remove(id: number, expected?: readonly number[]): Awaitable<number | undefined>;
  /** Lists at most `limit` matches with ids above `after`, in order of creation; `total` counts all matches. */
  list(filter: TaskFilter, limit: number, after?: number): Awaitable<TaskMatches>;
  /** Finds at most `limit` matches and about 1 MiB, newest first; `total` counts all matches, regardless of `before`. */
  search(search: TaskSearch): Awaitable<TaskMatches>;
  /**
   * Stores tasks with their ids and times; with `ifNew`, only if the store never had a task. Returns the index of the first record
   * whose id is not above all earlier ids; undefined without one.
   */
  restore(records: readonly TaskSeed[], ifNew?: boolean): Promise<number | undefined>;
  /** True while tasks can be read and changed. */
  isReady(): Awaitable<boolean>;
  /** Completes work in progress and releases files and connections. */
  close(): Awaitable<void>;
}
