/** A value, or a promise of it: a store in memory answers without waiting. */
export type Awaitable<T> = T | Promise<T>;

/** The first matches of a query, as they were when it was asked; later changes do not show in it. */
export interface List<T extends object> {
  /** How many match. */
  total: number;
  /** How many are in the list. */
  count: number;
  /** The entries in order, some at a time, so that a list of any length takes little memory. */
  pieces: Iterable<Iterable<T>> | AsyncIterable<Iterable<T>>;
}

/** Entries of a list that are handed out at once. */
const pieceSize = 100;

/**
 * Up to `limit` entries from place `start` on, of an array that only grows at its end: nothing is copied but the piece
 * that is being read.
 */
export const toList = <T extends object>(entries: readonly T[], start = 0, limit = Infinity): List<T> => {
  const end = Math.min(entries.length, start + limit);
  return { total: entries.length, count: Math.max(0, end - start), pieces: slice(entries, start, end) };
};

function* slice<T>(entries: readonly T[], start: number, end: number): Generator<T[]> {
  for (let from = start; from < end; from += pieceSize) {
    yield entries.slice(from, Math.min(end, from + pieceSize));
  }
}
