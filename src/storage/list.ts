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

/** Entries of a list that are handed out at once: so many, or fewer with so many characters of text. */
const pieceSize = 100;
const pieceLength = 64 * 1024;

/** Up to `limit` entries from place `start` on, of an array that only grows at its end; a piece is copied at a time. */
export const toList = <T extends object>(entries: readonly T[], start = 0, limit = Infinity): List<T> => {
  const end = Math.min(entries.length, start + limit);
  return { total: entries.length, count: Math.max(0, end - start), pieces: slice(entries, start, end) };
};

function* slice<T extends object>(entries: readonly T[], start: number, end: number): Generator<T[]> {
  let piece: T[] = [];
  let length = 0;
  for (let at = start; at < end; at += 1) {
    const entry = entries[at] as T;
    piece.push(entry);
    for (const value of Object.values(entry)) length += typeof value === 'string' ? value.length : 0;
    if (piece.length < pieceSize && length < pieceLength && at + 1 < end) continue;
    yield piece;
    piece = [];
    length = 0;
  }
}
