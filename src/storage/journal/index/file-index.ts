import { lstat, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { createSerial } from '../../scheduling.ts';
import type { ReadAt } from '../read/lines.ts';
import { dayMs } from '../retention.ts';
import {
  blockBytes,
  createRanges,
  type IndexBlock,
  indexBackwards,
  Keys,
  Minutes,
  type Ranges,
  type Source,
  widen,
} from './block.ts';

/** How much is indexed before other readers have their turn. */
const stepBytes = 1024 * 1024;

/** The blocks of one file, in order; gaps between them are filled when somebody reads there. */
export class FileIndex {
  readonly keys: Keys;
  readonly minutes = new Minutes();
  readonly #serially = createSerial();
  #blocks: IndexBlock[];

  constructor(keys: Keys, blocks: IndexBlock[] = []) {
    this.keys = keys;
    this.#blocks = blocks;
    for (const block of blocks) this.minutes.add(block);
  }

  get blocks(): readonly IndexBlock[] {
    return this.#blocks;
  }

  /** Whether there are no gaps in the first `end` bytes. */
  isComplete(end: number): boolean {
    let covered = 0;
    for (const block of this.#blocks) {
      if (block.start > covered) return false;
      covered = block.end;
    }
    return covered >= end;
  }

  /**
   * The blocks of the first `end` bytes that can hold what is wanted, the last one first, each with the offset up to which
   * it belongs to these bytes. Others are among them where they were not indexed before.
   */
  async *readBackwards(
    source: Source,
    end: number,
    canHold: (block: IndexBlock) => boolean = () => true,
  ): AsyncGenerator<{ block: IndexBlock; end: number }> {
    for (let position = this.#skip(end, canHold); position > 0; position = this.#skip(position, canHold)) {
      // Two readers must not fill a gap at the same time.
      if (!this.#blockBefore(position)) await this.#serially(() => this.#fillBefore(source, position));
      const block = this.#blockBefore(position);
      if (!block) return;
      yield { block, end: position };
      position = block.start;
    }
  }

  /** Where, before the position, a block ends that can hold what is wanted or was not indexed yet. */
  #skip(from: number, canHold: (block: IndexBlock) => boolean): number {
    let position = from;
    for (let place = this.#placeOf(from); position > 0; place -= 1) {
      const block = this.#blocks[place];
      if (!block || block.start >= position || block.end < position || canHold(block)) break;
      position = block.start;
    }
    return position;
  }

  /** The block that holds the byte before the position. */
  #blockBefore(position: number): IndexBlock | undefined {
    const block = this.#blocks[this.#placeOf(position)];
    return block && block.start < position ? block : undefined;
  }

  /** Adds blocks before the position, as many as make a step. */
  async #fillBefore(source: Source, position: number): Promise<void> {
    if (this.#blockBefore(position)) return;
    const place = this.#placeOf(position);
    const previous = this.#blocks[place - 1];
    // A short block at the end of what was the file's end grows with the file.
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

  /** Index of the first block that ends at the position or behind it. */
  #placeOf(position: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[middle]?.end ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const version = 1;
/** Larger ones are neither written nor read. */
const largestBytes = 16 * 1024 * 1024;
const checkedBytes = 4096;

interface Content {
  version: number;
  /** Size of the segment, and a checksum of its end: the sidecar of another segment is not taken for its own. */
  bytes: number;
  check: number;
  keys: string[];
  blocks: number[][];
}

/** The index in a sidecar file, and the file's size; undefined where it does not fit the segment or cannot be read. */
export const readSidecar = async (
  path: string,
  read: ReadAt,
  segmentBytes: number,
): Promise<{ index: FileIndex; bytes: number } | undefined> => {
  try {
    const { size } = await lstat(path).then((found) => (found.isFile() ? found : { size: Number.POSITIVE_INFINITY }));
    if (size > largestBytes) return undefined;
    const text = await readFile(path, 'utf8');
    const json = text.slice(9);
    if (text.slice(0, 9) !== toChecksum(json)) return undefined;
    const content: Content = JSON.parse(json);
    const isOwn = content.version === version && content.bytes === segmentBytes;
    if (!isOwn || content.check !== (await readCheck(read, segmentBytes))) return undefined;
    const index = new FileIndex(new Keys(content.keys), content.blocks.map(toBlock));
    return index.isComplete(segmentBytes) ? { index, bytes: size } : undefined;
  } catch {
    // It is built again.
    return undefined;
  }
};

/** Writes the sidecar file of a segment. Where that fails, the next process builds the index again. */
export const writeSidecar = async (
  path: string,
  read: ReadAt,
  segmentBytes: number,
  index: FileIndex,
): Promise<void> => {
  const temporary = `${path}.tmp`;
  try {
    const content: Content = {
      version,
      bytes: segmentBytes,
      check: await readCheck(read, segmentBytes),
      keys: [...index.keys.names],
      blocks: index.blocks.map(toNumbers),
    };
    const json = JSON.stringify(content);
    if (json.length > largestBytes) return;
    await writeFile(temporary, toChecksum(json) + json, { mode: 0o600 });
    await rename(temporary, path);
  } catch {
    await unlink(temporary).catch(() => undefined);
  }
};

const toChecksum = (json: string): string => `${crc32(json).toString(16).padStart(8, '0')}\n`;

const readCheck = async (read: ReadAt, end: number): Promise<number> => {
  const buffer = Buffer.alloc(Math.min(checkedBytes, end));
  await read(buffer, end - buffer.length);
  return crc32(buffer);
};

const toNumbers = ({ start, end, seqs, times, idTimes, hasOldIds, counts }: IndexBlock): number[] => [
  ...[start, end, seqs.min, seqs.max, times.min, times.max, idTimes.min, idTimes.max, Number(hasOldIds)],
  ...[...counts].flat(),
];

const toBlock = (numbers: number[]): IndexBlock => {
  if (numbers.length < 9 || !numbers.every(Number.isSafeInteger)) throw new Error('not a block');
  const [start = 0, end = 0, seqMin = 0, seqMax = 0, timeMin = 0, timeMax = 0, idMin = 0, idMax = 0, old] = numbers;
  const counts = new Map<number, number>();
  for (let at = 9; at + 1 < numbers.length; at += 2) counts.set(numbers[at] ?? 0, numbers[at + 1] ?? 0);
  return {
    start,
    end,
    seqs: { min: seqMin, max: seqMax },
    times: { min: timeMin, max: timeMax },
    idTimes: { min: idMin, max: idMax },
    hasOldIds: old === 1,
    counts,
  };
};

/** What a closed file holds. */
export interface Summary extends Ranges {
  /** What is counted in it; only of the files of the last day, where it is asked for most. */
  counted: Pick<FileIndex, 'minutes' | 'keys'> | undefined;
}

/** The summary of a file whose index is complete. */
export const summarize = ({ blocks, minutes, keys }: FileIndex): Summary => {
  const summary = createRanges();
  for (const block of blocks) {
    widen(summary.seqs, block.seqs);
    widen(summary.times, block.times);
    widen(summary.idTimes, block.idTimes);
    summary.hasOldIds ||= block.hasOldIds;
  }
  const isRecent = summary.times.max > Date.now() - dayMs;
  return { ...summary, counted: isRecent ? { minutes, keys } : undefined };
};

/** Forgets the counts of a file that is no longer of the last day. */
export const age = (summary: Summary): void => {
  if (summary.times.max <= Date.now() - dayMs) summary.counted = undefined;
};
