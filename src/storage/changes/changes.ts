import type { Awaitable } from '../list.ts';

/** What is kept in memory: changes lead from one state to the next. */
export interface State<Change, Result> {
  /** About the bytes of memory that its entries take up. */
  readonly bytes: number;
  /** About the bytes by which it would grow with the change; negative if it would shrink. */
  growthOf(change: Change): number;
  /** Changes the state. Applying a change again, alone or with those after it, leads to the same state. */
  apply(change: Change): Result;
  /** Whether a change that was stored, perhaps by a newer version, has a form that can be applied; may throw if not. */
  isKnown(change: Change): boolean;
  /**
   * Changes that lead to this state, some at a time; they may include what is applied while they are read.
   */
  changes(): Iterable<readonly Change[]>;
}

/** The changes of a state, in their order. */
export interface Changes<Change, Result> {
  /**
   * Applies the change once it is stored, after those that were written before; resolves to what that returned. Throws
   * StoreUnavailable, also in the promise; then it was not applied, though it may be after a restart.
   */
  write(change: Change): Awaitable<Result>;
  /** Whether changes can be written at the moment. */
  isReady(): boolean;
  /** Stores the state as it is now: for changes that were applied without being written. */
  save(): Awaitable<void>;
  /** Opens files again that another program has moved. */
  reopen(): Awaitable<void>;
  close(): Awaitable<void>;
}

/** Opens the changes of a state, which is empty, under a name; applies those that were stored before. `onLost` is called when changes that were written will not be applied. */
export type OpenChanges = <Change, Result>(
  name: string,
  state: State<Change, Result>,
  onLost: () => void,
) => Promise<Changes<Change, Result>>;

/** Changes that are applied at once and stored nowhere. */
export const keepInMemory = <Change, Result>({ apply }: State<Change, Result>): Changes<Change, Result> => ({
  write: apply,
  isReady: () => true,
  save: () => undefined,
  reopen: () => undefined,
  close: () => undefined,
});
