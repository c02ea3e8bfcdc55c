import { type Changes, type EntriesState, entryBytes, lengthOf, type OpenChanges, toTextBytes } from './changes.ts';
import { type Awaitable, type List, toList } from './list.ts';

/** Kind of entries. Entries can only be appended, and never change. */
export interface EntryKind<Fields, T extends object> {
  /** File name. */
  name: string;
  /** Name of the database table and of its gate. */
  table: string;
  /**
   * Builds an entry from its fields and its place. Places are counted from 1. `taken` contains the numbers of earlier
   * entries.
   */
  complete(fields: Fields, place: number, taken: ReadonlySet<number>): T;
  /** Unique numbers of entries: the table of the numbers, and the number that an entry has or that fields request. */
  numbers?: { table: string; of(entry: Fields | T): number | undefined };
}

/** Store of entries of one kind. Every method throws StoreUnavailable while the store cannot be used. */
export interface EntryStore<Fields, T extends object> {
  /** Adds an entry at the end. */
  add(fields: Fields): Awaitable<T>;
  /** Returns the entry at a place, counted from 1. */
  find(place: number): Awaitable<T | undefined>;
  /**
   * Lists at most `limit` entries after the first `start`, or all entries by default. `total` is the number of all
   * entries.
   */
  list(start?: number, limit?: number): Awaitable<List<T>>;
  /** Adds the initial entries unless the store already has entries. */
  restore(fields: readonly Fields[]): Awaitable<void>;
  /** True while entries can be read and added. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Creates a function that marks the number of an entry, or the number that fields request, as taken. */
const createTake =
  <Fields, T extends object>({ numbers }: EntryKind<Fields, T>, taken: Set<number>) =>
  (entry: Fields | T): void => {
    const number = numbers?.of(entry);
    if (number !== undefined) taken.add(number);
  };

/** Builds entries from fields, starting at a place, and marks their numbers as taken. */
export const completeEntries = <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
  fields: readonly Fields[],
  firstPlace: number,
  taken: Set<number>,
): T[] => {
  const take = createTake(kind, taken);
  // Requested numbers are marked first. Then the other entries get theirs.
  fields.forEach(take);
  return fields.map((each, index) => {
    const entry = kind.complete(each, firstPlace + index, taken);
    take(entry);
    return entry;
  });
};

/** Entry at an index. Applying the change twice has no further effect. */
export interface EntryChange<T> {
  index: number;
  entry: T;
}

/** Number of entries in one piece of a snapshot. */
const pieceSize = 100;

/** Creates a state that keeps its entries in an array. The array may also grow without changes. */
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

/** Opens an in-memory store of entries. An added entry becomes visible once it is stored. */
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
      // If the entry was refused, its place and number are not taken.
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
