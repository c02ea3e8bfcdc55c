import { StoreUnavailable } from '../lib/expected-errors.ts';
import type { Awaitable } from './list.ts';

/** What is kept in memory: changes lead from one state to the next. */
export interface State<Change, Result> {
  /** About the bytes of memory that its entries take up. */
  readonly bytes: number;
  /** About the bytes by which it would grow with the change; negative if it would shrink. */
  growthOf(change: Change): number;
  /** Changes the state. Applying a change again, alone or with those after it, leads to the same state. */
  apply(change: Change): Result;
  /** The change as it is stored: a value as JSON. */
  toJson(change: Change): string;
  /** About the characters of that; quick to tell. */
  lengthOf(change: Change): number;
  /** The change that was stored as this value; undefined for a form that only a newer version may know, or it throws. */
  toChange(value: unknown): Change | undefined;
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
  /** Characters of the changes that were written and not applied yet. */
  countWaiting(): number;
  /** Whether changes can be written at the moment. */
  isReady(): boolean;
  /** Stores the state as it is now: for changes that were applied without being written. */
  save(): Awaitable<void>;
  close(): Awaitable<void>;
}

/** Opens the changes of a state, which is empty, under a name; applies those that were stored before. `onLost` is called when changes that were written will not be applied. */
export type OpenChanges = <Change, Result>(
  name: string,
  state: State<Change, Result>,
  onLost: () => void,
) => Promise<Changes<Change, Result>>;

/** Changes that are applied at once and stored nowhere. */
export const openInMemory: OpenChanges = async (_name, { apply }) => ({
  write: apply,
  countWaiting: () => 0,
  isReady: () => true,
  save: () => undefined,
  close: () => undefined,
});

/**
 * Opens changes of states that together may take up so many bytes of memory. Changes by which a state would grow beyond
 * them are refused with `refusal`; what is stored already is opened in any case.
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

/** The bytes that V8 keeps of a text: two for each character if one of them needs two. */
export const toTextBytes = (text: string): number => (wide.test(text) ? 2 * text.length : text.length);

/** About the bytes that an entry of a store takes up besides its texts. */
export const entryBytes = 128;

/** About as many characters as the value has as JSON. */
export const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  // Of a value of JSON these are its own members; it is called for each event of a log.
  for (const key in value) length += key.length + 4 + lengthOf(value[key as never]);
  return length;
};
