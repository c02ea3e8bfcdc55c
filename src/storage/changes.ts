import { StoreUnavailable } from '../lib/expected-errors.ts';
import type { Awaitable } from './list.ts';

/** A state in memory that changes lead to. */
export interface EntriesState<Change, Result> {
  /** Approximate bytes of memory that the entries take up. */
  readonly bytes: number;
  /** Returns the approximate bytes by which the change makes the state grow; negative if it shrinks. */
  growthOf(change: Change): number;
  /** Applies a change. Applying it again, alone or with later changes, leads to the same state. */
  apply(change: Change): Result;
  /** Returns the stored form of the change, as JSON. */
  toJson(change: Change): string;
  /** Returns the approximate characters of the stored form, quickly. */
  lengthOf(change: Change): number;
  /** Converts a stored value to a change; returns undefined, or throws, for a form that this version does not know. */
  toChange(value: unknown): Change | undefined;
  /** Yields changes that lead to this state, in pieces; may include changes that are applied meanwhile. */
  changes(): Iterable<readonly Change[]>;
}

/** Stores the changes of a state, in their order. */
export interface Changes<Change, Result> {
  /**
   * Stores the change, then applies it after all earlier changes; resolves to the result of `apply`. Throws or rejects with
   * StoreUnavailable if the change is not applied, though it may be after a restart.
   */
  write(change: Change): Awaitable<Result>;
  /** Returns the characters of written changes that are not applied yet. */
  countWaiting(): number;
  /** True while changes can be written. */
  isReady(): boolean;
  /** Stores the current state, for changes that were applied without being written. */
  save(): Awaitable<void>;
  close(): Awaitable<void>;
}

/**
 * Opens the changes of an empty state under a name, and applies those that are stored. `onLost` is called when written changes
 * will not be applied.
 */
export type OpenChanges = <Change, Result>(
  name: string,
  state: EntriesState<Change, Result>,
  onLost: () => void,
) => Promise<Changes<Change, Result>>;

/** Opens changes that are applied at once and stored nowhere. */
export const openInMemory: OpenChanges = async (_name, { apply }) => ({
  write: apply,
  countWaiting: () => 0,
  isReady: () => true,
  save: () => undefined,
  close: () => undefined,
});

/**
 * Limits the memory of all states together. A change that would exceed `maxBytes` is refused with `refusal`; stored changes are
 * always applied.
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

/** Returns the bytes of a text in V8: two for each character if one of them needs two. */
export const toTextBytes = (text: string): number => (wide.test(text) ? 2 * text.length : text.length);

/** Approximate bytes of a store's entry besides its texts. */
export const entryBytes = 128;

/** Returns the approximate characters of a value as JSON. */
export const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  // A value of JSON has only own members. This runs for each event of a log, so it avoids Object.entries.
  for (const key in value) length += key.length + 4 + lengthOf(value[key as never]);
  return length;
};
