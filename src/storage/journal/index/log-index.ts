import { lstat, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { dayMs } from '../../../lib/units.ts';
import type { FileNames } from '../files.ts';
import type { JournalSettings } from '../options.ts';
import { type Log, type LogFile, type LogFiles, openClosed, openLogFiles, type ReadAt } from '../read/files.ts';
import {
  createRanges,
  FileIndex,
  type IndexBlock,
  type IndexedSource,
  Keys,
  type Ranges,
  widen,
} from './file-index.ts';

/** How many closed segments' indexes are in memory, about 1 MiB each; those of others are read from their sidecars. */
const keptIndexes = 16;

/** In the background so many blocks are indexed before a pause that leaves the processor to requests. */
const blocksAtOnce = 16;
const pauseMs = 10;

/** Bytes that a request may still read. */
interface Budget {
  left: number;
}

/** A file of the log while it is open, with its index. */
interface IndexedFile {
  index: FileIndex;
  /** How many of its bytes may be read. */
  end: number;
  /** Reading counts towards the budget. */
  source: IndexedSource;
}

/** A block, and how its bytes are read. */
interface ReadableBlock {
  block: IndexBlock;
  read(): Promise<Buffer>;
}

/**
 * Where in the log which seqs, times and ids are. Nothing is indexed before somebody reads by it; then closed segments are
 * indexed in the background, and their indexes are kept in sidecar files.
 */
export class LogIndex {
  readonly #log: Log;
  readonly #names: FileNames;
  readonly #settings: JournalSettings;
  /** Of the closed segments whose index is complete. */
  readonly #summaries = new Map<string, Summary>();
  /** Of closed segments; the one that was used last is at the end. */
  readonly #closed = new Map<string, FileIndex>();
  readonly #active = new WeakMap<LogFiles['active'], FileIndex>();
  #background: Promise<void> | undefined;
  #isUsed = false;
  #isEnded = false;

  constructor(log: Log, names: FileNames, settings: JournalSettings) {
    this.#log = log;
    this.#names = names;
    this.#settings = settings;
    log.onClosed((active, path) => this.#noteClosed(active, path));
  }

  /** The files, newest first; closed ones only if `isWanted`, which is asked once about each that is indexed. */
  async *openFiles(isWanted: (summary: Summary) => boolean, budget: Budget): AsyncGenerator<IndexedFile> {
    if (!this.#isUsed) this.#startBackground();
    this.#isUsed = true;
    const wanted = (path: string): boolean => {
      const summary = this.#summaries.get(path);
      return summary === undefined || isWanted(summary);
    };
    for await (const file of openLogFiles(this.#log, wanted)) {
      const wasKnown = typeof file.identity === 'string' && this.#summaries.has(file.identity);
      const index = await this.#indexOf(file, budget);
      const summary = typeof file.identity === 'string' ? this.#summaries.get(file.identity) : undefined;
      if (summary && !wasKnown && !isWanted(summary)) continue;
      yield { index, end: file.end, source: this.#toSource(countBytes(file.read, budget)) };
      await this.#save(file, index);
    }
  }

  /** The blocks of all files, newest first, that can hold what is wanted; others, too, where they were not indexed before. */
  async *readBlocks(canHold: (ranges: Ranges) => boolean, budget: Budget): AsyncGenerator<ReadableBlock> {
    for await (const { index, end: fileEnd, source } of this.openFiles(canHold, budget)) {
      for await (const { block, end } of index.readBackwards(source, fileEnd, canHold)) {
        const read = async (): Promise<Buffer> => {
          const bytes = Buffer.allocUnsafe(end - block.start);
          return bytes.subarray(0, await source.read(bytes, block.start));
        };
        yield { block, read };
      }
    }
  }

  /** What is known of a closed segment, where its index is complete. */
  summaryOf(path: string): Summary | undefined {
    return this.#summaries.get(path);
  }

  /** The blocks of a file, the last one first; only as many are indexed as are asked for. */
  async *readBlocksOf(file: LogFile): AsyncGenerator<{ block: IndexBlock }> {
    const index = await this.#indexOf(file, { left: 0 });
    yield* index.readBackwards(this.#toSource(file.read), file.end);
  }

  /** Ends what runs in the background. */
  async close(): Promise<void> {
    this.#isEnded = true;
    await this.#background;
  }

  /** The index of a file, with gaps unless it was complete before. */
  async #indexOf({ identity, read, end }: LogFile, budget: Budget): Promise<FileIndex> {
    if (typeof identity !== 'string') {
      const index = this.#active.get(identity) ?? this.#create();
      this.#active.set(identity, index);
      return index;
    }
    const kept = this.#closed.get(identity);
    const loaded = kept ? undefined : await readSidecar(this.#names.index(identity), read, end);
    budget.left -= loaded?.bytes ?? 0;
    if (loaded) this.#summaries.set(identity, summarize(loaded.index));
    // Another reader may have begun it meanwhile.
    const index = kept ?? loaded?.index ?? this.#closed.get(identity) ?? this.#create();
    this.#keep(identity, index);
    return index;
  }

  #create(): FileIndex {
    return new FileIndex(new Keys(this.#settings.indexing.keys));
  }

  #keep(path: string, index: FileIndex): void {
    this.#closed.delete(path);
    this.#closed.set(path, index);
    const [oldest] = this.#closed.keys();
    if (this.#closed.size > keptIndexes && oldest !== undefined) this.#closed.delete(oldest);
  }

  /** Keeps the index of a closed file once it is complete. */
  async #save({ identity, read, end }: LogFile, index: FileIndex): Promise<void> {
    if (typeof identity !== 'string' || this.#summaries.has(identity) || !index.isComplete(end)) return;
    this.#summaries.set(identity, summarize(index));
    await writeSidecar(this.#names.index(identity), read, end, index);
  }

  #noteClosed(active: LogFiles['active'], path: string): void {
    // The number may have been that of another file, which somebody has deleted.
    this.#summaries.delete(path);
    this.#closed.delete(path);
    const index = this.#active.get(active);
    if (index) this.#keep(path, index);
    if (this.#isUsed) this.#startBackground();
  }

  #startBackground(): void {
    this.#background = Promise.resolve(this.#background).then(() => this.#indexClosed());
  }

  /** Indexes all closed segments. One that cannot be read is left to the next reader. */
  async #indexClosed(): Promise<void> {
    const { active, closed } = this.#log.takeSnapshot();
    await active.release();
    const paths = new Set(closed);
    for (const [path, summary] of this.#summaries) {
      if (paths.has(path)) age(summary);
      else this.#summaries.delete(path);
    }
    const missing = closed.filter((path) => !this.#summaries.has(path));
    for (const [done, path] of missing.entries()) {
      if (this.#isEnded) return;
      this.#settings.onIndexed(done, missing.length);
      await this.#indexFile(path).catch(() => undefined);
    }
    if (missing.length > 0) this.#settings.onIndexed(missing.length, missing.length);
  }

  async #indexFile(path: string): Promise<void> {
    for await (const file of openClosed(this.#log, path)) {
      const index = await this.#indexOf(file, { left: 0 });
      let blocks = 0;
      for await (const _ of index.readBackwards(this.#toSource(file.read), file.end)) {
        if (this.#isEnded) return;
        blocks += 1;
        if (blocks % blocksAtOnce === 0) await setTimeout(pauseMs);
      }
      await this.#save(file, index);
    }
  }

  #toSource(read: ReadAt): IndexedSource {
    const { maxLineBytes, indexing } = this.#settings;
    return { read, maxLineBytes, indexing };
  }
}

const countBytes =
  (read: ReadAt, budget: Budget): ReadAt =>
  (buffer, position) => {
    budget.left -= buffer.length;
    return read(buffer, position);
  };

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
const readSidecar = async (
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
const writeSidecar = async (path: string, read: ReadAt, segmentBytes: number, index: FileIndex): Promise<void> => {
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
const summarize = ({ blocks, minutes, keys }: FileIndex): Summary => {
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
const age = (summary: Summary): void => {
  if (summary.times.max <= Date.now() - dayMs) summary.counted = undefined;
};
