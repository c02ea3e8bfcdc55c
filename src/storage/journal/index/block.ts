import { readIdTime } from '../format/id.ts';
import type { Indexing } from '../options.ts';
import { type ReadAt, readLinesBackwards } from '../read/backwards.ts';
import { type StoredRecord, toStored } from '../read/forward.ts';
import { Slice } from '../scheduling.ts';
import { type Keys, slots } from './keys.ts';

const minuteMs = 60_000;

/** A block is closed when it has this many bytes. */
export const blockBytes = 32 * 1024;

/** The lowest and the highest of some numbers; `min` is above `max` where there are none. */
export interface Range {
  min: number;
  max: number;
}

/** What is known of some lines of a file that follow each other. Lines that were not written here count for nothing. */
export interface Block {
  start: number;
  end: number;
  seqs: Range;
  /** Times of records, of those that have one; Unix milliseconds. */
  times: Range;
  /** Times in ids. */
  idTimes: Range;
  /** Whether there are ids without a time. */
  hasOldIds: boolean;
  /** How many records there are of each minute and key, by `toCountKey`. */
  counts: Map<number, number>;
}

/** Where a file is read from, and what is wanted of its records. */
export interface Source {
  read: ReadAt;
  maxLineBytes: number;
  indexing: Indexing;
}

export const createRange = (): Range => ({ min: Number.MAX_SAFE_INTEGER, max: Number.MIN_SAFE_INTEGER });

export const widen = (range: Range, { min, max }: Range): void => {
  range.min = Math.min(range.min, min);
  range.max = Math.max(range.max, max);
};

const include = (range: Range, value: number): void => widen(range, { min: value, max: value });

/** Whether the range has a number from `from` up to, and not including, `to`. */
export const overlaps = ({ min, max }: Range, from: number, to: number): boolean =>
  min <= max && max >= from && min < to;

const toCountKey = (minute: number, slot: number): number => minute * slots + slot;
export const minuteOf = (countKey: number): number => Math.floor(countKey / slots);
export const slotOf = (countKey: number): number => countKey - minuteOf(countKey) * slots;

const createBlock = (end: number): Block => ({
  start: end,
  end,
  seqs: createRange(),
  times: createRange(),
  idTimes: createRange(),
  hasOldIds: false,
  counts: new Map(),
});

/** The lines from `from`, where one begins, to `to` in blocks, the last one first. A line that is too long is a block. */
export async function* indexBackwards(source: Source, keys: Keys, from: number, to: number): AsyncGenerator<Block> {
  const { read, maxLineBytes, indexing } = source;
  const slice = new Slice();
  let block = createBlock(to);
  const readFrom: ReadAt = (buffer, position) => read(buffer, from + position);
  for await (const lines of readLinesBackwards(readFrom, to - from, maxLineBytes)) {
    for (const line of lines) {
      const start = from + line.start;
      if (line.bytes === undefined) {
        block.start = Math.min(block.end, start + line.length + 1);
        if (block.start < block.end) yield block;
        yield { ...createBlock(block.start), start };
        block = createBlock(start);
        continue;
      }
      const record = toStored(line.bytes);
      if (record) addRecord(block, record, indexing, keys);
      block.start = start;
      if (block.end - start >= blockBytes) {
        yield block;
        block = createBlock(start);
      }
      if (slice.isOver) await slice.giveWay();
    }
  }
  // Where the file was cut meanwhile, less was read.
  block.start = from;
  if (block.end > from) yield block;
}

const addRecord = (block: Block, record: StoredRecord, { timeOf, keyOf }: Indexing, keys: Keys): void => {
  include(block.seqs, record.seq);
  const idTime = readIdTime(record.id);
  if (idTime === undefined) block.hasOldIds = true;
  else include(block.idTimes, idTime);
  const time = timeOf(record);
  if (time === undefined) return;
  include(block.times, time);
  const key = toCountKey(Math.floor(time / minuteMs), keys.slotOf(keyOf(record)));
  block.counts.set(key, (block.counts.get(key) ?? 0) + 1);
};
