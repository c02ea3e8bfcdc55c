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
import { findLastSeqIn, type Log, type LogFile, openLogFiles, readForward, splitBackwards } from './files.ts';

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
    canHold: ({ seqs, times }: Ranges): boolean =>
      overlaps(seqs, lowest, limit) && (!isTimed || overlaps(times, from, to)),
    isInRange: (record: StoredRecord): boolean => {
      const time = isTimed ? timeOf(record) : from;
      return record.seq < limit && time !== undefined && time >= from && (!isTimed || time < to);
    },
  };
};

/**
 * The record with the id, undefined if there is none. Only blocks with ids of its time are read; of an id without a time,
 * blocks with such ids.
 * @throws JournalError `window-too-large` when more than `maxBytes` would have to be read
 */
export const findRecord = async (index: LogIndex, id: string, maxBytes: number): Promise<StoredRecord | undefined> => {
  const time = readIdTime(id);
  const canHold = ({ idTimes, hasOldIds }: Ranges): boolean =>
    time === undefined ? hasOldIds : overlaps(idTimes, time, time + 1);
  const text = Buffer.from(`"id":${JSON.stringify(id)}`);
  const budget = { left: maxBytes };
  for await (const { block, read } of index.readBlocks(canHold, budget)) {
    if (budget.left <= 0) throw new JournalError('window-too-large', `a record is searched for in ${maxBytes} bytes`);
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
  /** The first minute, and the one after the last; minutes since 1970. */
  since: number;
  until: number;
  /** After so many bytes of the log nothing more is read. */
  maxBytes: number;
  /** Gets how many records of a minute have a key; undefined stands for keys beyond those counted separately. */
  add(minute: number, key: string | undefined, count: number): void;
}

/**
 * Counts records by minute and key, in no order; each minute and key may be added several times. Resolves to whether all
 * were counted: the index of the log may not be complete yet.
 */
export const countRecords = async (index: LogIndex, { since, until, maxBytes, add }: Counting): Promise<boolean> => {
  /** Counts what is in memory. */
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

/** Fills the gaps of an index, as far as the budget allows. */
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

/** How many readers' places are remembered, so that one that goes on need not search. */
const keptPlaces = 64;

interface Place {
  identity: LogFile['identity'];
  offset: number;
}

/** Reads the records after a seq, oldest first, some at a time, up to the end of the log as it is when it begins. */
export const createReadAfter = (log: Log, index: LogIndex, maxLineBytes: number, observeFrom: ObserveFrom) => {
  /** Where the records after a seq begin, by seq; the last one that was used is at the end. */
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

/** The closed segments without records after a seq. One that is closed after this counts as unread. */
const listRead = async (log: Log, index: LogIndex, { seq, known, maxLineBytes }: Reached): Promise<Set<string>> => {
  const { active, closed } = log.takeSnapshot();
  await active.release();
  if (known?.identity === active) return new Set(closed);
  for (const [place, path] of closed.entries()) {
    const lastSeq =
      index.summaryOf(path)?.seqs.max ??
      (await log.readSerially(() => findLastSeqIn(path, maxLineBytes)).catch(passIfGone)) ??
      0;
    // One without records of its own says nothing of those before it.
    if (lastSeq > 0 && lastSeq <= seq) return new Set(closed.slice(place));
  }
  return new Set();
};

/** The offset of a block before which the file holds no record after the seq. */
const findStart = async (index: LogIndex, file: LogFile, seq: number): Promise<number> => {
  let start = file.end;
  if (seq === 0) return 0;
  for await (const { block } of index.readBlocksOf(file)) {
    if (block.seqs.min <= block.seqs.max && block.seqs.max <= seq) break;
    start = block.start;
  }
  return start;
};
