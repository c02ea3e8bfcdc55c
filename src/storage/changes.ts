import { StoreUnavailable } from '../lib/expected-errors.ts';
import type { Awaitable } from './list.ts';

/** State in memory that results from changes. */
export interface EntriesState<Change, Result> {
  /** Approximate memory used by the entries, in bytes. */
  readonly bytes: number;
  /** Returns the approximate number of bytes that the change adds to the state. Negative if the state shrinks. */
  growthOf(change: Change): number;
  /** Applies a change. Applying the same change again, alone or followed by later changes, gives the same state. */
  apply(change: Change): Result;
  /** Returns the stored form of the change, as JSON. */
  toJson(change: Change): string;
  /** Returns the approximate length of the stored form in characters. Must be fast. */
  lengthOf(change: Change): number;
  /** Parses a stored value. Returns undefined, or throws, if this version does not know its form. */
  toChange(value: unknown): Change | undefined;
  /** Yields the changes that rebuild this state, in batches. May include changes applied during iteration. */
  changes(): Iterable<readonly Change[]>;
}

/** Stores the changes of a state in order. */
export interface Changes<Change, Result> {
  /**
   * Stores the change, then applies it after all earlier changes. Resolves to the result of `apply`. Throws
   * StoreUnavailable, or rejects with it, if the change has not been applied. Even then, a restart may apply the
   * change.
   */
  write(change: Change): Awaitable<Result>;
  /** Returns the total length in characters of changes that have been written but not applied. */
  countWaiting(): number;
  /** True while changes can be written. */
  isReady(): boolean;
  /** Stores the current state, including changes that were applied without being written. */
  save(): Awaitable<void>;
  close(): Awaitable<void>;
}

/**
 * Opens the changes of an empty state under a name, and applies the stored changes. `onLost` is called if changes that
 * have been written will not be applied.
 */
export type OpenChanges = <Change, Result>(
  name: string,
  state: EntriesState<Change, Result>,
  onLost: () => void,
) => Promise<Changes<Change, Result>>;

/** Opens changes that are applied immediately and never stored. */
export const openInMemory: OpenChanges = async (_name, { apply }) => ({
  write: apply,
  countWaiting: () => 0,
  isReady: () => true,
  save: () => undefined,
  close: () => undefined,
});

/**
 * Limits the combined memory of all states. A change that would exceed `maxBytes` is refused with `refusal`. Stored
 * changes are always applied.
 */
export const limitBytes = (openChanges: OpenChanges, maxBytes: number, refusal: string): OpenChanges => {
  const opened: { state: { readonly bytes: number }; changes: { countWaiting(): number } }[] = [];
  return async (name, state, onLost) => {
    const changes = await openChanges(name, state, onLost);
    opened.push({ state, changes });
    return {
      write: (change) => {
        const growth = state.growthOf(change);
        const isTooMuch =
          growth > 0 &&
          opened.reduce((sum, each) => sum + each.state.bytes + each.changes.countWaiting(), growth) > maxBytes;
        if (isTooMuch) throw new StoreUnavailable(refusal);
        return changes.write(change);
      },
      countWaiting: () => changes.countWaiting(),
      isReady: () => changes.isReady(),
      save: () => changes.save(),
      close: () => changes.close(),
    };
  };
};

const wide = /[^\0-\xff]/;

/** Returns the size of a string in V8, in bytes. If any character needs two bytes, all characters take two. */
export const toTextBytes = (text: string): number => (wide.test(text) ? 2 * text.length : text.length);

/** Approximate overhead in bytes of an entry in a store. Does not include its strings. */
export const entryBytes = 128;

/** Returns the approximate length of a value as JSON, in characters. */
export const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  // JSON values have only own members. Avoids Object.entries, because this code runs for each event of a log.
  for (const key in value) length += key.length + 4 + lengthOf(value[key as never]);
  return length;
};
