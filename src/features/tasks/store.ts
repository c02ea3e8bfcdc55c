import type { Awaitable, List } from '../../storage/list.ts';
import type { NewTask, Task, TaskChanges, TaskSeed } from './schema.ts';

export interface StoredTask {
  readonly id: number;
  /** Number of writes, starting at 1. */
  readonly version: number;
  /** The task's JSON as it appears in responses. */
  readonly text: string;
}

export interface TaskFilter {
  status?: string | undefined;
  priority?: string | undefined;
}

/** Search criteria; results are newest first. */
export interface TaskSearch extends TaskFilter {
  /** Text that titles must contain, regardless of case. */
  q?: string | undefined;
  /** Upper bound of the ids to search, exclusive. */
  before?: number | undefined;
  limit: number;
}

/** `Idempotency-Key` of a request, and a hash of its body. */
export interface RequestKey {
  key: string;
  bodyHash: string;
}

/** Matches of a filter. `next` continues the list: pass it as `after`, or as `before` in a search. */
export interface TaskMatches extends List<Task> {
  next?: number;
}

/**
 * Stores tasks. Every method throws StoreUnavailable while the store is unavailable; nothing has changed then unless
 * the error says otherwise.
 */
export interface TaskStore {
  /**
   * Stores a new Pending task under the next id; ids start at 1, have no gaps and are never reused. For 24 hours, the
   * same key and body return the same task; throws KeyRefusal for another body.
   */
  create(fields: NewTask, key?: RequestKey): Awaitable<StoredTask>;
  find(id: number): Awaitable<StoredTask | undefined>;
  /** Changes a task and UpdatedAt; undefined without the task. Throws StoreConflict if `expected` lacks the version. */
  update(id: number, changes: TaskChanges, expected?: readonly number[]): Awaitable<StoredTask | undefined>;
  /** Deletes a task; returns the number left, undefined without the task. Throws StoreConflict as `update` does. */
  remove(id: number, expected?: readonly number[]): Awaitable<number | undefined>;
  /** Lists at most `limit` matches with ids above `after`, in order of creation; `total` counts all matches. */
  list(filter: TaskFilter, limit: number, after?: number): Awaitable<TaskMatches>;
  /** Finds at most `limit` matches and about 1 MiB, newest first; `total` counts all matches regardless of `before`. */
  search(search: TaskSearch): Awaitable<TaskMatches>;
  /**
   * Stores tasks with their ids and times; with `ifNew`, only if the store has never contained a task. Returns the
   * index of the first record whose id does not exceed all earlier ids; undefined if there is none.
   */
  restore(records: readonly TaskSeed[], ifNew?: boolean): Promise<number | undefined>;
  /** True while tasks can be read and changed. */
  isReady(): Awaitable<boolean>;
  /** Completes work in progress and releases files and connections. */
  close(): Awaitable<void>;
}
