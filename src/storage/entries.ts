import { type Changes, entryBytes, lengthOf, type OpenChanges, type State, toTextBytes } from './changes.ts';
import { type Awaitable, type List, toList } from './list.ts';

/** A kind of entries that are added and never changed, in their order. */
export interface EntryKind<Fields, T extends object> {
  /** The name of its files. */
  name: string;
  /** Its table in a database, and the gate of that. */
  table: string;
  /** Completes fields to an entry at a place, from 1; `taken` has the numbers of the entries before. */
  complete(fields: Fields, place: number, taken: ReadonlySet<number>): T;
  /** If entries take numbers: the table of those that are taken, and the one that an entry has or fields ask for. */
  numbers?: { table: string; of(entry: Fields | T): number | undefined };
}

/** Stores entries of a kind. Every method throws StoreUnavailable while the store cannot be used. */
export interface EntryStore<Fields, T extends object> {
  /** Adds an entry behind all others. */
  add(fields: Fields): Awaitable<T>;
  /** The entry at a place, from 1. */
  find(place: number): Awaitable<T | undefined>;
  /** At most `limit` entries after the first `start`, all by default; `total` counts all. */
  list(start?: number, limit?: number): Awaitable<List<T>>;
  /** Adds the first entries, unless there are some already. */
  restore(fields: readonly Fields[]): Awaitable<void>;
  /** Whether entries can be read and added at the moment. */
  isReady(): Awaitable<boolean>;
  close(): Awaitable<void>;
}

/** Makes the function that adds an entry's number, or the one that fields ask for, to those that are taken. */
const createTake =
  <Fields, T extends object>({ numbers }: EntryKind<Fields, T>, taken: Set<number>) =>
  (entry: Fields | T): void => {
    const number = numbers?.of(entry);
    if (number !== undefined) taken.add(number);
  };

/** Completes fields to entries from a place on, and adds their numbers to those that are taken. */
export const completeEntries = <Fields, T extends object>(
  kind: EntryKind<Fields, T>,
  fields: readonly Fields[],
  firstPlace: number,
  taken: Set<number>,
): T[] => {
  const take = createTake(kind, taken);
  // Numbers that are asked for come before those that are given.
  fields.forEach(take);
  return fields.map((each, index) => {
    const entry = kind.complete(each, firstPlace + index, taken);
    take(entry);
    return entry;
  });
};

/** An entry at an index, which is added or there already. */
export interface EntryChange<T> {
  index: number;
  entry: T;
}

/** How many entries are written to the state's file at once. */
const pieceSize = 100;

/** The state whose entries are in an array, to which they may also be added otherwise. */
export const createEntriesState = <T>(all: T[]): State<EntryChange<T>, T> => {
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

/** Entries in memory, which show once they are stored. */
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
      // Not if it was refused.
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
