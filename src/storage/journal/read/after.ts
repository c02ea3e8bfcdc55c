import { passIfGone } from '../errors.ts';
import type { LogIndex } from '../index/log-index.ts';
import { findLastSeqIn, type Log, type LogFile, openLogFiles } from './files.ts';
import { readForward, type StoredRecord } from './lines.ts';

/** How many readers' places are remembered, so that one that goes on need not search. */
const keptPlaces = 64;

interface Place {
  identity: LogFile['identity'];
  offset: number;
}

/** Reads the records after a seq, oldest first, some at a time, up to the end of the log as it is when it begins. */
export const createReadAfter = (log: Log, index: LogIndex, maxLineBytes: number) => {
  /** Where the records after a seq begin, by seq; the last one that was used is at the end. */
  const places = new Map<number, Place>();
  const remember = (seq: number, place: Place): void => {
    places.delete(seq);
    places.set(seq, place);
    const [oldest] = places.keys();
    if (places.size > keptPlaces && oldest !== undefined) places.delete(oldest);
  };
  return async function* readAfter(
    seq: number,
    onSkipped: (lines: number) => void = () => undefined,
  ): AsyncGenerator<StoredRecord[]> {
    const known = places.get(seq);
    const read = await listRead(log, index, { seq, known, maxLineBytes });
    for await (const file of openLogFiles(log, (path) => !read.has(path), { oldestFirst: true })) {
      const start = known?.identity === file.identity ? known.offset : await findStart(index, file, seq);
      for await (const { records, skipped, end } of readForward(file.read, start, file.end, maxLineBytes)) {
        if (skipped > 0) onSkipped(skipped);
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
