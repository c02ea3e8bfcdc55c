import { bisect } from '../../../lib/bisect.ts';
import { createSerial } from '../../../lib/scheduling.ts';
import { Slice } from '../../../lib/slice.ts';
import { minuteMs } from '../../../lib/units.ts';
import { parseStored, readIdTime, type StoredRecord } from '../line.ts';
import type { Indexing } from '../options.ts';
import { type ReadAt, readLinesBackwards } from '../read/lines.ts';

/** Minimum size of a complete block in bytes. */
const blockBytes = 32 * 1024;

/** Number of bytes indexed before other readers get their turn. */
const stepBytes = 1024 * 1024;

/** Number of slots for separately counted names. Slot 0 counts all other names. */
const slots = 128;

/** Maximum length in characters of a name that is counted separately. */
const maxNameLength = 64;

/** Minimum and maximum of a set of numbers. `min` exceeds `max` if the set is empty. */
interface NumberRange {
  min: number;
  max: number;
}

/** Ranges of seqs, times and ids in one part of a file. */
export interface Ranges {
  seqs: NumberRange;
  /** Times of records, in Unix milliseconds. */
  times: NumberRange;
  /** Times encoded in ids. */
  idTimes: NumberRange;
  /** True if some ids contain no time. */
  hasOldIds: boolean;
}

/** Consecutive lines of a file. */
export interface IndexBlock extends Ranges {
  start: number;
  end: number;
  /** Number of records by minute and key. `toCountKey` combines both in the key of the map. */
  counts: Map<number, number>;
}

/** File to index. */
export interface IndexedSource {
  read: ReadAt;
  maxLineBytes: number;
  indexing: Indexing;
}

const createRange = (): NumberRange => ({ min: Number.MAX_SAFE_INTEGER, max: Number.MIN_SAFE_INTEGER });

const createRanges = (): Ranges => ({
  seqs: createRange(),
  times: createRange(),
  idTimes: createRange(),
  hasOldIds: false,
});

const widen = (range: NumberRange, { min, max }: NumberRange): void => {
  range.min = Math.min(range.min, min);
  range.max = Math.max(range.max, max);
};

const include = (range: NumberRange, value: number): void => widen(range, { min: value, max: value });

/** True if the range contains a number from `from`, inclusive, to `to`, exclusive. */
export const overlaps = ({ min, max }: NumberRange, from: number, to: number): boolean =>
  min <= max && max >= from && min < to;

const toCountKey = (minute: number, slot: number): number => minute * slots + slot;
const minuteOf = (countKey: number): number => Math.floor(countKey / slots);
const slotOf = (countKey: number): number => countKey - minuteOf(countKey) * slots;

const createBlock = (end: number): IndexBlock => ({
  start: end,
  end,
  ...createRanges(),
  counts: new Map(),
});

/**
 * Reads the lines between `from` and `to` in blocks, last block first. `from` must be the start of a line. An overlong
 * line is a block by itself.
 */
async function* indexBackwards(
  source: IndexedSource,
  keys: IndexedNames,
  from: number,
  to: number,
): AsyncGenerator<IndexBlock> {
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
      const record = parseStored(line.bytes);
      if (record) addRecord(block, record, indexing, keys);
      block.start = start;
      if (block.end - start >= blockBytes) {
        yield block;
        block = createBlock(start);
      }
      if (slice.isOver) await slice.giveWay();
    }
  }
  // If the file was truncated in the meantime, fewer bytes were read.
  block.start = from;
  if (block.end > from) yield block;
}

const addRecord = (block: IndexBlock, record: StoredRecord, { timeOf, keyOf }: Indexing, keys: IndexedNames): void => {
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

/** Number of records in a file by minute and key. */
export class Minutes {
  /** Counts per minute, by slot. */
  readonly #minutes = new Map<number, number[]>();
  #first = Infinity;
  #last = -Infinity;

  /** Creates empty counts, or counts from the output of `list`. */
  constructor(listed: readonly number[][] = []) {
    for (const [minute = 0, ...counts] of listed) this.#set(minute, counts);
  }

  /** Lists the minutes, each with its counts by slot. */
  list(): number[][] {
    return Array.from(this.#minutes, ([minute, counts]) => [minute, ...counts]);
  }

  add({ counts }: IndexBlock): void {
    for (const [countKey, count] of counts) this.#change(countKey, count);
  }

  remove({ counts }: IndexBlock): void {
    for (const [countKey, count] of counts) this.#change(countKey, -count);
  }

  /** Calls the function for each key and minute from `since`, inclusive, to `until`, exclusive. */
  forEach(
    keys: IndexedNames,
    since: number,
    until: number,
    call: (minute: number, key: string | undefined, count: number) => void,
  ): void {
    const callFor = (minute: number): void => {
      this.#minutes.get(minute)?.forEach((count, slot) => {
        if (count > 0) call(minute, keys.nameOf(slot), count);
      });
    };
    const first = Math.max(since, this.#first);
    const last = Math.min(until - 1, this.#last);
    if (last - first < this.#minutes.size) {
      for (let minute = first; minute <= last; minute += 1) callFor(minute);
      return;
    }
    for (const minute of this.#minutes.keys()) {
      if (minute >= first && minute <= last) callFor(minute);
    }
  }

  #change(countKey: number, by: number): void {
    const minute = minuteOf(countKey);
    const slot = slotOf(countKey);
    const counts = this.#minutes.get(minute) ?? [];
    while (counts.length <= slot) counts.push(0);
    counts[slot] = (counts[slot] ?? 0) + by;
    this.#set(minute, counts);
  }

  #set(minute: number, counts: number[]): void {
    this.#minutes.set(minute, counts);
    this.#first = Math.min(this.#first, minute);
    this.#last = Math.max(this.#last, minute);
  }
}

/** Names that an index counts separately. Each has a slot. Surplus and overlong names share slot 0. */
export class IndexedNames {
  readonly #names: string[] = [];
  readonly #slots = new Map<string, number>();

  /** Creates the slots. Names in `first` always get separate slots. */
  constructor(first: readonly string[]) {
    for (const name of first) this.slotOf(name);
  }

  get names(): readonly string[] {
    return this.#names;
  }

  slotOf(name: string | undefined): number {
    if (name === undefined) return 0;
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    if (name.length > maxNameLength || this.#names.length + 1 === slots) return 0;
    this.#slots.set(name, this.#names.push(name));
    return this.#names.length;
  }

  /** Returns the name of a slot. Undefined for slot 0. */
  nameOf(slot: number): string | undefined {
    return this.#names[slot - 1];
  }
}

/** Counts of a file, and the names that it counts separately. */
export interface Counted {
  minutes: Minutes;
  keys: IndexedNames;
}

/** Blocks of one file, in order. Gaps are filled when a reader reaches them. */
export class FileIndex implements Counted {
  readonly keys: IndexedNames;
  readonly minutes: Minutes;
  /** End of the blocks in the sidecar. 0 without a sidecar. */
  savedEnd: number;
  readonly #serially = createSerial();
  #blocks: IndexBlock[];

  /** Creates an index. `counted` must already include all of `blocks`. */
  constructor({ minutes, keys }: Counted, blocks: IndexBlock[] = []) {
    this.minutes = minutes;
    this.keys = keys;
    this.#blocks = blocks;
    this.savedEnd = this.end;
  }

  /** End of the last block. */
  get end(): number {
    return this.#blocks.at(-1)?.end ?? 0;
  }

  get blocks(): readonly IndexBlock[] {
    return this.#blocks;
  }

  /** Combined ranges of all blocks. */
  get ranges(): Ranges {
    const all = createRanges();
    for (const { seqs, times, idTimes, hasOldIds } of this.#blocks) {
      widen(all.seqs, seqs);
      widen(all.times, times);
      widen(all.idTimes, idTimes);
      all.hasOldIds ||= hasOldIds;
    }
    return all;
  }

  /** True if the first `end` bytes are indexed without gaps. */
  isComplete(end: number): boolean {
    let covered = 0;
    for (const block of this.#blocks) {
      if (block.start > covered) return false;
      covered = block.end;
    }
    return covered >= end;
  }

  /**
   * Reads the blocks in the first `end` bytes that `canHold` accepts, last block first. Also reads any block that has
   * not been indexed before. If a block extends beyond `end`, its own `end` is reduced accordingly.
   */
  async *readBackwards(
    source: IndexedSource,
    end: number,
    canHold: (block: IndexBlock) => boolean = () => true,
  ): AsyncGenerator<{ block: IndexBlock; end: number }> {
    for (let position = this.#skip(end, canHold); position > 0; position = this.#skip(position, canHold)) {
      // Two readers must not fill the same gap at the same time.
      if (!this.#blockBefore(position)) await this.#serially(() => this.#fillBefore(source, position));
      const block = this.#blockBefore(position);
      if (!block) return;
      yield { block, end: position };
      position = block.start;
    }
  }

  /** Returns the end of the last block before the position that `canHold` accepts or that has not been indexed yet. */
  #skip(from: number, canHold: (block: IndexBlock) => boolean): number {
    let position = from;
    for (let place = this.#placeOf(from); position > 0; place -= 1) {
      const block = this.#blocks[place];
      if (!block || block.start >= position || block.end < position || canHold(block)) break;
      position = block.start;
    }
    return position;
  }

  /** Returns the block that contains the byte before the position. */
  #blockBefore(position: number): IndexBlock | undefined {
    const block = this.#blocks[this.#placeOf(position)];
    return block && block.start < position ? block : undefined;
  }

  /** Adds the blocks of one step before the position. */
  async #fillBefore(source: IndexedSource, position: number): Promise<void> {
    if (this.#blockBefore(position)) return;
    const place = this.#placeOf(position);
    const previous = this.#blocks[place - 1];
    // A short block at the former end of the file grows with the file.
    const isShort = previous !== undefined && previous.end - previous.start < blockBytes;
    const from = previous ? (isShort ? previous.start : previous.end) : 0;
    const added: IndexBlock[] = [];
    for await (const block of indexBackwards(source, this.keys, from, position)) {
      added.unshift(block);
      if (position - block.start >= stepBytes) break;
    }
    const replacesShort = isShort && (added[0]?.start ?? position) < previous.end;
    const removed = this.#blocks.splice(replacesShort ? place - 1 : place, replacesShort ? 1 : 0, ...added);
    for (const block of removed) this.minutes.remove(block);
    for (const block of added) this.minutes.add(block);
  }

  /** Returns the index of the first block that ends at or after the position. */
  #placeOf(position: number): number {
    return bisect(this.#blocks, ({ end }) => end < position);
  }
}
