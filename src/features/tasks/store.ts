import type { Awaitable, List } from '../../storage/list.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

export interface StoredTask {
  readonly id: number;
  /** Number of times the task has been written, starting at 1. */
  readonly version: number;
  /** JSON of the task as it appears in responses. */
  readonly text: string;
}

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/** Search criteria. Results are newest first. */
export interface TaskSearch extends TaskFilter {
  /** Text that titles must contain. Case is ignored. */
  q?: string | undefined;
  /** Exclusive upper bound of the ids to search. */
  before?: number | undefined;
  limit: number;
}

/** `Idempotency-Key` of a request, and a hash of its body. */
export interface RequestRepeatId {
  key: string;
  bodyHash: string;
}

/** Matches of a filter. To continue the list, pass `next` as `after`, or as `before` in a search. */
export interface TaskMatches extends List<Task> {
  next?: number;
}

/**
 * Store of tasks. Every method throws StoreUnavailable while the store is unavailable. In that case, nothing has
 * changed unless the error says otherwise.
 */
export interface TaskStore {
  /**
   * Stores a new Pending task under the next id. Ids start at 1, have no gaps and are never reused. For 24 hours, a
   * repeated key with the same body returns the same task. A repeated key with another body throws a RepeatRefusal.
   */
  create(fields: NewTask, key?: RequestRepeatId): Awaitable<StoredTask>;
  find(id: number): Awaitable<StoredTask | undefined>;
  /**
   * Changes a task and its UpdatedAt. Returns undefined for an unknown task. Throws StoreConflict if `expected` does
   * not include the current version.
   */
  update(id: number, changes: TaskChanges, expected?: readonly number[]): Awaitable<StoredTask | undefined>;
  /**
   * Deletes a task. Returns the number of tasks left, or undefined for an unknown task. Throws StoreConflict like
   * `update`.
   */
  remove(id: number, expected?: readonly number[]): Awaitable<number | undefined>;
  /** Lists at most `limit` matches with ids above `after`, in order of creation. `total` counts all matches. */
  list(filter: TaskFilter, limit: number, after?: number): Awaitable<TaskMatches>;
  /**
   * Finds at most `limit` matches, up to about 1 MiB, newest first. `total` counts all matches, regardless of `before`.
   */
  search(search: TaskSearch): Awaitable<TaskMatches>;
  /**
   * Stores tasks with their ids and times. With `ifNew`, does so only if the store has never contained a task. Returns
   * the index of the first record with an id that does not exceed all earlier ids. Undefined if all ids are in order.
   */
  restore(records: readonly TaskSeed[], ifNew?: boolean): Promise<number | undefined>;
  /** True while tasks can be read and changed. */
  isReady(): Awaitable<boolean>;
  /** Completes work in progress and releases files and connections. */
  close(): Awaitable<void>;
}
