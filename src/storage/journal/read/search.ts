import { createPrefilter, type FieldTest, passes } from '../format/parse.ts';
import { overlaps } from '../index/block.ts';
import type { LogIndex } from '../index/log-index.ts';
import type { Summary } from '../index/summary.ts';
import type { Indexing } from '../options.ts';
import { Slice } from '../scheduling.ts';
import { splitBackwards } from './backwards.ts';
import { type StoredRecord, toStored } from './forward.ts';

export interface Search {
  /** Only records with a lower seq. */
  before?: number | undefined;
  /** Only records whose time is not before this; Unix milliseconds. */
  since?: number | undefined;
  /** Only records whose time is before this. */
  until?: number | undefined;
  /** Fields whose texts must be accepted; lines of which one is not are not parsed. */
  match?: readonly FieldTest[];
  /** What else must be true of a record. */
  test?: (record: StoredRecord) => boolean;
  /** How many records are returned at most. */
  limit: number;
  /** Once the lines of the records found have so many bytes, no more are returned. */
  maxFoundBytes?: number;
  /** After so many bytes of the log nothing more is read. */
  maxBytes: number;
}

export interface SearchResult {
  /** Newest first. */
  records: StoredRecord[];
  /** Where to go on: the `before` of the next search. Undefined at the end of the log. */
  next: number | undefined;
}

/**
 * Searches the records that were written here, newest first. Blocks that cannot hold any are not read. A search that is
 * stopped by `maxBytes` may have found nothing, or even only indexed: the next one gets further.
 */
export const searchLog = async (index: LogIndex, indexing: Indexing, search: Search): Promise<SearchResult> => {
  const { match = [], test = () => true, limit, maxFoundBytes = Number.POSITIVE_INFINITY } = search;
  const { before = Number.MAX_SAFE_INTEGER, canHold, isInRange } = createRangeTests(search, indexing);
  const isPossible = createPrefilter(match);
  const budget = { left: search.maxBytes };
  const slice = new Slice();
  const records: StoredRecord[] = [];
  let foundBytes = 0;
  const isFull = (): boolean => records.length >= limit || foundBytes >= maxFoundBytes;
  /** The seq from which on everything has been looked at. */
  let reached = before;
  for await (const { read, readBlocks } of index.openFiles(canHold, budget)) {
    for await (const { block, end } of readBlocks(canHold)) {
      if (block.seqs.min <= block.seqs.max) reached = Math.min(reached, block.seqs.max + 1);
      if (canHold(block)) {
        if (isFull()) return { records, next: records.at(-1)?.seq };
        if (budget.left <= 0) return { records, next: reached };
        const bytes = Buffer.allocUnsafe(end - block.start);
        const length = await read(bytes, block.start);
        for (const line of splitBackwards(bytes.subarray(0, length))) {
          if (slice.isOver) await slice.giveWay();
          if (!isFull() && !isPossible(line)) continue;
          const record = toStored(line);
          if (!record || !isInRange(record)) continue;
          if (isFull()) return { records, next: records.at(-1)?.seq };
          if (!passes(record, match) || !test(record)) continue;
          records.push(record);
          foundBytes += line.length;
        }
      }
      reached = Math.min(reached, block.seqs.min);
      if (budget.left <= 0) return { records, next: reached };
    }
  }
  return { records, next: undefined };
};

/** Which records, and which blocks and files, are within the bounds of a search. */
const createRangeTests = ({ before, since, until }: Search, { timeOf }: Indexing) => {
  const isTimed = since !== undefined || until !== undefined;
  const [lowest, limit, from, to] = [
    Number.MIN_SAFE_INTEGER,
    before ?? Number.MAX_SAFE_INTEGER,
    since ?? Number.NEGATIVE_INFINITY,
    until ?? Number.POSITIVE_INFINITY,
  ];
  return {
    before,
    canHold: ({ seqs, times }: Pick<Summary, 'seqs' | 'times'>): boolean =>
      overlaps(seqs, lowest, limit) && (!isTimed || overlaps(times, from, to)),
    isInRange: (record: StoredRecord): boolean => {
      const time = isTimed ? timeOf(record) : from;
      return record.seq < limit && time !== undefined && time >= from && (!isTimed || time < to);
    },
  };
};
