import { type Changes, type EntriesState, entryBytes, lengthOf, type OpenChanges, toTextBytes } from './changes.ts';
import { type Awaitable, type List, toList } from './list.ts';

/** Kind of entries that are added in order and never changed. */
export interface EntryKind<Fields, T extends object> {
  /** Name of the files. */
  name: string;
  /** Name of the table in a database, and of its gate. */
  table: string;
  /** Completes fields to an entry at a place, from 1; `taken` has the numbers of earlier entries. */
  complete(fields: Fields, place: number, taken: ReadonlySet<number>): T;
  /** Unique numbers of entries: the table of taken numbers, and the number that an entry has or that fields request. */
  numbers?: { table: string; of(entry: Fields | T): number | undefined };
}

/** Store for entries of a kind. Every method throws StoreUnavailable while the store cannot be used. */
export interface EntryStore<Fields, T extends object> {
  /** Adds an entry at the end. */
  add(fields: Fields): Awaitable<T>;
  /** Returns the entry at a place, from 1. */
  find(place: number): Awaitable<T | undefined>;
  /** Lists at most `limit` entries after the first `start`, all by default; `total` counts all. */
  list(start?: number, limit?: number): Awaitable<List<T>>;
  /** Adds the first entries, unless the store has entries. */
  restore(fields: readonly Fields[]): Awaitable<void>;
  /** True while entries can be read and added. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Creates the function that adds the number of an entry, or the number that fields request, to the taken numbers. */
const createTake =
  <Fields, T extends object>({ numbers }: EntryKind<Fields, T>, taken: Set<number>) =>
  (entry: Fields | T): void => {
    const number = numbers?.of(entry);
    if (number !== undefined) taken.add(number);
  };

/** Completes fields to entries from a place on, and adds their numbers to the taken numbers. */
export const completeEntries = <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
  fields: readonly Fields[],
  firstPlace: number,
  taken: Set<number>,
): T[] => {
  const take = createTake(kind, taken);
  // Requested numbers are taken before numbers are given out.
  fields.forEach(take);
  return fields.map((each, index) => {
    const entry = kind.complete(each, firstPlace + index, taken);
    take(entry);
    return entry;
  });
};

/** An entry at an index; applying the change again has no effect. */
export interface EntryChange<T> {
  index: number;
  entry: T;
}

/** Entries in one piece of the snapshot. */
const pieceSize = 100;

/** Creates a state whose entries are in an array; the array may also grow without changes. */
export const createEntriesState = <T>(all: T[]): EntriesState<EntryChange<T>, T> => {
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
      const { index, entry } = value as EntryChange<T>;
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

/** Opens a store of entries in memory; an added entry is visible once it is stored. */
export const openEntryStore = async <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
  openChanges: OpenChanges,
): Promise<EntryStore<Fields, T>> => {
  const all: T[] = [];
  const taken = new Set<number>();
  const take = createTake(kind, taken);
  let next = 0;
  const changes: Changes<EntryChange<T>, T> = await openChanges(kind.name, createEntriesState(all), () => {
    next = 0;
    taken.clear();
    all.forEach(take);
  });
  all.forEach(take);
  return {
    add: (fields) => {
      const index = Math.max(next, all.length);
      const entry = kind.complete(fields, index + 1, taken);
      const added = changes.write({ index, entry });
      // After a refusal, neither the place nor the number is taken.
      next = index + 1;
      take(entry);
      return added;
    },
    find: (place) => all[place - 1],
    list: (start, limit) => toList(all, start, limit),
    restore: (fields) => {
      if (all.length > 0) return;
      for (const entry of completeEntries(kind, fields, 1, taken)) all.push(entry);
      return changes.save();
    },
    isReady: () => changes.isReady(),
    close: () => changes.close(),
  };
};
