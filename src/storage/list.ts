/** Value, or promise of a value. An in-memory store returns values directly. */
export type Awaitable<T> = T | Promise<T>;

/** First matches of a query. Later changes do not affect the list. */
export interface List<T extends object> {
  /** Number of all matches. */
  total: number;
  /** Number of entries in the list. */
  count: number;
  /** Entries in order, in pieces, so that even a long list takes little memory. */
  pieces: Iterable<Iterable<T>> | AsyncIterable<Iterable<T>>;
}

/** Maximum number of entries in a piece, and number of characters at which a piece ends. */
const pieceSize = 100;
const pieceLength = 64 * 1024;

/** Lists up to `limit` entries of an append-only array, beginning at the index `start`. Copies one piece at a time. */
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
