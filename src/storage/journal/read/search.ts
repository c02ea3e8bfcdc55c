import { Slice } from '../../../lib/slice.ts';
import { minuteMs } from '../../../lib/units.ts';
import { JournalError, passIfGone } from '../errors.ts';
import { type FileIndex, type IndexedSource, overlaps, type Ranges } from '../index/file-index.ts';
import type { Budget, LogIndex, Summary } from '../index/log-index.ts';
import {
  createPrefilter,
  type FieldTest,
  isFeatureEventLine,
  parseStored,
  passes,
  readIdTime,
  type StoredRecord,
} from '../line.ts';
import type { Indexing } from '../options.ts';
import type { ObserveFrom } from './damage.ts';
import { findLastSeqIn, type Log, type LogFile, openLogFiles } from './files.ts';
import { readForward, splitBackwards } from './lines.ts';

export interface Search {
  /** Exclusive upper bound of seqs. */
  before?: number | undefined;
  /** Inclusive lower bound of times, in Unix milliseconds. */
  since?: number | undefined;
  /** Exclusive upper bound of times, in Unix milliseconds. */
  until?: number | undefined;
  /** Tests of fields. They run before a line is parsed. */
  match?: readonly FieldTest[];
  /** Tests a parsed record. */
  test?: (record: StoredRecord) => boolean;
  /** Maximum number of records. */
  limit: number;
  /** Maximum total size in bytes of the matching lines. The search ends once they exceed it. */
  maxFoundBytes?: number;
  /** Maximum number of bytes of the log to read. */
  maxBytes: number;
}

export interface SearchResult {
  /** Records, newest first. */
  records: StoredRecord[];
  /** Value of `before` for the next search. Undefined at the end of the log. */
  next: number | undefined;
}

/**
 * Searches the records written by this log, newest first. Skips blocks that cannot contain a match. A search that ends
 * at `maxBytes` may have found nothing, or may only have built the index. The next search then gets further.
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
  /** Lowest seq that has been searched. */
  let reached = before;
  for await (const { block, read } of index.readBlocks(canHold, budget)) {
    if (block.seqs.min <= block.seqs.max) reached = Math.min(reached, block.seqs.max + 1);
    if (canHold(block)) {
      if (isFull()) return { records, next: records.at(-1)?.seq };
      if (budget.left <= 0) return { records, next: reached };
      for (const line of splitBackwards(await read())) {
        if (slice.isOver) await slice.giveWay();
        if (isFeatureEventLine(line) || (!isFull() && !isPossible(line))) continue;
        const record = parseStored(line);
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
  return { records, next: undefined };
};

/** Creates tests that are true for a record, block or file within the bounds of a search. */
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
    canHold: ({ seqs, times }: Ranges): boolean =>
      overlaps(seqs, lowest, limit) && (!isTimed || overlaps(times, from, to)),
    isInRange: (record: StoredRecord): boolean => {
      const time = isTimed ? timeOf(record) : from;
      return record.seq < limit && time !== undefined && time >= from && (!isTimed || time < to);
    },
  };
};

/**
 * Resolves to the record with an id. Undefined if there is none. Reads only blocks with ids of the same time or, for an
 * id without a time, blocks with other such ids. Throws a JournalError with the code `window-too-large` before
 * exceeding `maxBytes`.
 */
export const findRecord = async (index: LogIndex, id: string, maxBytes: number): Promise<StoredRecord | undefined> => {
  const time = readIdTime(id);
  const canHold = ({ idTimes, hasOldIds }: Ranges): boolean =>
    time === undefined ? hasOldIds : overlaps(idTimes, time, time + 1);
  const text = Buffer.from(`"id":${JSON.stringify(id)}`);
  const budget = { left: maxBytes };
  for await (const { block, read } of index.readBlocks(canHold, budget)) {
    if (budget.left <= 0)
      throw new JournalError('window-too-large', `the search for a record reads at most ${maxBytes} bytes`);
    if (!canHold(block)) continue;
    const bytes = await read();
    const record = bytes.includes(text) ? findIn(bytes, id) : undefined;
    if (record) return record;
  }
  return undefined;
};

const findIn = (bytes: Buffer, id: string): StoredRecord | undefined => {
  for (const line of splitBackwards(bytes)) {
    const record = isFeatureEventLine(line) ? undefined : parseStored(line);
    if (record?.id === id) return record;
  }
  return undefined;
};

export interface Counting {
  /** First minute since 1970, inclusive. */
  since: number;
  /** Last minute since 1970, exclusive. */
  until: number;
  /** Maximum number of bytes of the log to read. */
  maxBytes: number;
  /**
   * Receives the number of records in a minute with a key. An undefined key stands for all keys that are counted
   * together.
   */
  add(minute: number, key: string | undefined, count: number): void;
}

/**
 * Counts records by minute and key, in no particular order. May add the same minute and key several times. Resolves to
 * false if the counts are incomplete because the log has not been fully indexed yet.
 */
export const countRecords = async (index: LogIndex, { since, until, maxBytes, add }: Counting): Promise<boolean> => {
  /** Counts a file using its counts in memory. Returns true if the file must be read instead. */
  const isUnread = ({ times, counted }: Summary): boolean => {
    if (!overlaps(times, since * minuteMs, until * minuteMs)) return false;
    counted?.minutes.forEach(counted.keys, since, until, add);
    return counted === undefined;
  };
  const budget = { left: maxBytes };
  for await (const { counted, loadIndex, end, source } of index.openFiles(isUnread, budget)) {
    const { minutes, keys } = counted ?? (await completeIndex(await loadIndex(), source, end, budget));
    minutes.forEach(keys, since, until, add);
    if (budget.left <= 0) return false;
  }
  return true;
};

/** Fills the gaps in an index as far as the budget allows. */
const completeIndex = async (
  index: FileIndex,
  source: IndexedSource,
  end: number,
  budget: Budget,
): Promise<FileIndex> => {
  if (index.isComplete(end)) return index;
  for await (const _ of index.readBackwards(source, end)) {
    if (budget.left <= 0) break;
  }
  return index;
};

/** Maximum number of remembered reader positions. From such a position, reading continues without a search. */
const keptPlaces = 64;

interface Place {
  identity: LogFile['identity'];
  offset: number;
}

/**
 * Creates a function that reads the records after a seq in pieces, oldest first, up to the end of the log at the time
 * of the call.
 */
export const createReadAfter = (log: Log, index: LogIndex, maxLineBytes: number, observeFrom: ObserveFrom) => {
  /** Positions of readers by seq, least recently used first. */
  const places = new Map<number, Place>();
  const remember = (seq: number, place: Place): void => {
    places.delete(seq);
    places.set(seq, place);
    const [oldest] = places.keys();
    if (places.size > keptPlaces && oldest !== undefined) places.delete(oldest);
  };
  return async function* readAfter(seq: number): AsyncGenerator<StoredRecord[]> {
    const known = places.get(seq);
    const observeFile = observeFrom(seq);
    const read = await listRead(log, index, { seq, known, maxLineBytes });
    for await (const file of openLogFiles(log, (path) => !read.has(path), { oldestFirst: true })) {
      const start = known?.identity === file.identity ? known.offset : await findStart(index, file, seq);
      const observer = observeFile(file);
      for await (const { records, end } of readForward(file.read, start, file.end, maxLineBytes, observer)) {
        const after = records.filter((record) => record.seq > seq);
        const last = after.at(-1);
        if (last === undefined) continue;
        remember(last.seq, { identity: file.identity, offset: end });
        yield after;
      }
    }
  };
};

interface Reached {
  seq: number;
  known: Place | undefined;
  maxLineBytes: number;
}

/**
 * Resolves to the closed segments that have no records after a seq. A segment that is closed later counts as unread.
 */
const listRead = async (log: Log, index: LogIndex, { seq, known, maxLineBytes }: Reached): Promise<Set<string>> => {
  const { active, closed } = log.retainFiles();
  await active.release();
  if (known?.identity === active) return new Set(closed);
  for (const [place, path] of closed.entries()) {
    const lastSeq =
      index.summaryOf(path)?.seqs.max ??
      (await log.readSerially(() => findLastSeqIn(path, maxLineBytes)).catch(passIfGone)) ??
      0;
    // A segment without own records says nothing about earlier segments.
    if (lastSeq > 0 && lastSeq <= seq) return new Set(closed.slice(place));
  }
  return new Set();
};

/** Resolves to the offset of a block. The file has no record after the seq before that block. */
const findStart = async (index: LogIndex, file: LogFile, seq: number): Promise<number> => {
  let start = file.end;
  if (seq === 0) return 0;
  for await (const { block } of index.readBlocksOf(file)) {
    if (block.seqs.min <= block.seqs.max && block.seqs.max <= seq) break;
    start = block.start;
  }
  return start;
};
