import { entryBytes, lengthOf, toTextBytes } from '../length.ts';
import type { Awaitable } from '../list.ts';
import type { Changes, OpenChanges, State } from './changes.ts';

export interface Addition<T> {
  index: number;
  entry: T;
}

/** Entries that are added and never changed, in their order. */
export interface Entries<T> {
  readonly all: readonly T[];
  /** Adds an entry behind all others, at the index that `create` is given. */
  add(create: (index: number) => T): Awaitable<T>;
  /** Adds entries without waiting for each of them. */
  restore(entries: readonly T[]): Awaitable<void>;
  isReady(): boolean;
  close(): Awaitable<void>;
}

/** How many entries are written to the state's file at once. */
const pieceSize = 100;

/** The state whose entries are in an array, to which they may also be added otherwise. */
export const createEntriesState = <T>(all: T[]): State<Addition<T>, T> => {
  let counted = 0;
  let bytes = 0;
  return {
    get bytes(): number {
      for (; counted < all.length; counted += 1) bytes += toEntryBytes(all[counted]);
      return bytes;
    },
    growthOf: ({ index, entry }) => (index < all.length ? 0 : toEntryBytes(entry)),
    apply: ({ index, entry }) => {
      all[index] = entry;
      return entry;
    },
    toJson: (change) => JSON.stringify(change),
    lengthOf,
    toChange: (value) => {
      const { index, entry } = value as Addition<T>;
      const isKnown = Number.isSafeInteger(index) && index >= 0 && typeof entry === 'object' && entry !== null;
      return isKnown ? { index, entry } : undefined;
    },
    *changes() {
      for (let at = 0; at < all.length; at += pieceSize) {
        yield all.slice(at, at + pieceSize).map((entry, place) => ({ index: at + place, entry }));
      }
    },
  };
};

const toEntryBytes = (entry: unknown): number =>
  Object.values(entry as object).reduce(
    (sum, value) => sum + (typeof value === 'string' ? toTextBytes(value) : 0),
    entryBytes,
  );

/** Opens the entries under a name. `onLost` is called when entries that wait for the disk will not be added. */
export const openEntries = async <T>(
  name: string,
  openChanges: OpenChanges,
  onLost = (): void => undefined,
): Promise<Entries<T>> => {
  const all: T[] = [];
  const state = createEntriesState(all);
  let next = 0;
  const changes: Changes<Addition<T>, T> = await openChanges(name, state, () => {
    next = 0;
    onLost();
  });
  return {
    all,
    add: (create) => {
      const index = Math.max(next, all.length);
      const added = changes.write({ index, entry: create(index) });
      next = index + 1;
      return added;
    },
    restore: (entries) => {
      for (const entry of entries) all.push(entry);
      return changes.save();
    },
    isReady: () => changes.isReady(),
    close: () => changes.close(),
  };
};
