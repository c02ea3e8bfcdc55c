import { setTimeout } from 'node:timers/promises';
import { dayMs } from '../../../lib/units.ts';
import type { FileNames } from '../files.ts';
import type { JournalSettings } from '../options.ts';
import { type Log, type LogFile, type LogFiles, openClosed, openLogFiles } from '../read/files.ts';
import type { ReadAt } from '../read/lines.ts';
import {
  type Counted,
  FileIndex,
  type IndexBlock,
  IndexedNames,
  type IndexedSource,
  Minutes,
  type Ranges,
} from './file-index.ts';
import { readSidecar, type Sidecar, writeSidecar } from './sidecar.ts';

/**
 * Maximum number of indexes of closed segments in memory. Each takes about 1 MiB. Other indexes are read from their
 * sidecars.
 */
const keptIndexes = 16;

/** Number of blocks that are indexed in the background before a pause. Requests are answered during pauses. */
const blocksAtOnce = 16;
const pauseMs = 10;

/** Growth of the active file, as a share of a segment, after which its sidecar is written again. */
const savedShare = 1 / 8;

/** Number of bytes that a request may still read. */
export interface Budget {
  left: number;
}

/** File of the log, while it is open. */
interface IndexedFile {
  /** Counts from the sidecar of a closed segment. If they are present, the segment needs no index. */
  counted: Counted | undefined;
  /** Loads the index. It may have gaps. */
  loadIndex(): Promise<FileIndex>;
  /** Number of readable bytes. */
  end: number;
  /** Reader that charges the bytes it reads to the budget. */
  source: IndexedSource;
}

/** Block of the log, with its bytes. */
interface ReadableBlock {
  block: IndexBlock;
  read(): Promise<Buffer>;
}

/**
 * Index of the seqs, times and ids in a log. After the first read, closed segments are indexed in the background.
 * Indexes are written to sidecar files. The sidecar of the active file covers only its first part.
 */
export class LogIndex {
  readonly #log: Log;
  readonly #names: FileNames;
  readonly #settings: JournalSettings;
  /** Summaries of closed segments with complete indexes. */
  readonly #summaries = new Map<string, Summary>();
  /** Indexes of closed segments, least recently used first. */
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

  /**
   * Opens the files, newest first. Leaves out closed files whose summary `isWanted` rejects. `isWanted` is called once
   * per file.
   */
  async *openFiles(isWanted: (summary: Summary) => boolean, budget: Budget): AsyncGenerator<IndexedFile> {
    try {
      yield* this.#openWanted(isWanted, budget);
    } finally {
      // Meanwhile, the background would read the same sidecars.
      if (!this.#isUsed) this.#startBackground();
      this.#isUsed = true;
    }
  }

  async *#openWanted(isWanted: (summary: Summary) => boolean, budget: Budget): AsyncGenerator<IndexedFile> {
    const wanted = (path: string): boolean => {
      const summary = this.#summaries.get(path);
      return summary === undefined || isWanted(summary);
    };
    for await (const file of openLogFiles(this.#log, wanted)) {
      const wasKnown = typeof file.identity === 'string' && this.#summaries.has(file.identity);
      const sidecar = await this.#readSidecar(file, budget);
      const summary = typeof file.identity === 'string' ? this.#summaries.get(file.identity) : undefined;
      if (summary && !wasKnown && !isWanted(summary)) continue;
      let index: FileIndex | undefined;
      const loadIndex = async (): Promise<FileIndex> => {
        index ??= await this.#indexOf(file, budget, sidecar);
        return index;
      };
      yield {
        counted: sidecar?.counted,
        loadIndex,
        end: file.end,
        source: this.#toSource(countBytes(file.read, budget)),
      };
      if (index) await this.#save(file, index);
    }
  }

  /** Reads all blocks that `canHold` accepts, newest first. Also reads any block that has not been indexed before. */
  async *readBlocks(canHold: (ranges: Ranges) => boolean, budget: Budget): AsyncGenerator<ReadableBlock> {
    for await (const { loadIndex, end: fileEnd, source } of this.openFiles(canHold, budget)) {
      const index = await loadIndex();
      for await (const { block, end } of index.readBackwards(source, fileEnd, canHold)) {
        const read = async (): Promise<Buffer> => {
          const bytes = Buffer.allocUnsafe(end - block.start);
          return bytes.subarray(0, await source.read(bytes, block.start));
        };
        yield { block, read };
      }
    }
  }

  /** Returns the summary of a closed segment. Undefined until its index is complete. */
  summaryOf(path: string): Summary | undefined {
    return this.#summaries.get(path);
  }

  /** Reads the blocks of a file, last block first. Blocks that the caller does not read remain unindexed. */
  async *readBlocksOf(file: LogFile): AsyncGenerator<{ block: IndexBlock }> {
    const budget = { left: 0 };
    const index = await this.#indexOf(file, budget, await this.#readSidecar(file, budget));
    yield* index.readBackwards(this.#toSource(file.read), file.end);
  }

  /** Stops background indexing. */
  async close(): Promise<void> {
    this.#isEnded = true;
    await this.#background;
  }

  /** Reads the sidecar of a closed segment and keeps its summary. Does nothing if the index is already in memory. */
  async #readSidecar({ identity, read, end }: LogFile, budget: Budget): Promise<Sidecar | undefined> {
    if (typeof identity !== 'string' || this.#closed.has(identity)) return undefined;
    const sidecar = await readSidecar(this.#names.index(identity), { read, size: end });
    budget.left -= sidecar?.bytes ?? 0;
    if (sidecar) this.#summaries.set(identity, summarize(sidecar.ranges, sidecar.counted));
    return sidecar;
  }

  /** Resolves to the index of a file. The index may have gaps. */
  async #indexOf(file: LogFile, budget: Budget, sidecar: Sidecar | undefined): Promise<FileIndex> {
    const { identity } = file;
    if (typeof identity !== 'string') return this.#indexOfActive(identity, file, budget);
    const loaded = this.#closed.has(identity) ? undefined : await sidecar?.loadBlocks();
    budget.left -= loaded?.bytes ?? 0;
    // The sidecar has no usable blocks, so the next complete index is summarized and saved again.
    if (sidecar && !loaded) this.#summaries.delete(identity);
    // Another reader may have loaded or started the index in the meantime.
    const index = this.#closed.get(identity) ?? loaded?.index ?? this.#create();
    this.#keep(identity, index);
    return index;
  }

  async #indexOfActive(active: LogFiles['active'], { read, end }: LogFile, budget: Budget): Promise<FileIndex> {
    const path = this.#names.index(this.#names.active);
    const sidecar = this.#active.has(active)
      ? undefined
      : await readSidecar(path, { read, size: end, isGrowing: true });
    const loaded = await sidecar?.loadBlocks();
    budget.left -= (sidecar?.bytes ?? 0) + (loaded?.bytes ?? 0);
    // Another reader may have loaded or started the index in the meantime.
    const index = this.#active.get(active) ?? loaded?.index ?? this.#create();
    this.#active.set(active, index);
    return index;
  }

  #create(): FileIndex {
    return new FileIndex({ minutes: new Minutes(), keys: new IndexedNames(this.#settings.indexing.keys) });
  }

  #keep(path: string, index: FileIndex): void {
    this.#closed.delete(path);
    this.#closed.set(path, index);
    const [oldest] = this.#closed.keys();
    if (this.#closed.size > keptIndexes && oldest !== undefined) this.#closed.delete(oldest);
  }

  /** Saves the index of a closed file once it is complete, and the index of the active file as that file grows. */
  async #save({ identity, read, end }: LogFile, index: FileIndex): Promise<void> {
    if (typeof identity !== 'string') return this.#saveActive(read, index);
    if (this.#summaries.has(identity) || !index.isComplete(end)) return;
    this.#summaries.set(identity, summarize(index.ranges, index));
    await writeSidecar(this.#names.index(identity), read, end, index);
  }

  async #saveActive(read: ReadAt, index: FileIndex): Promise<void> {
    const { end, savedEnd } = index;
    const isDue = end - savedEnd >= this.#settings.segmentBytes * savedShare;
    if (!isDue || !index.isComplete(end)) return;
    index.savedEnd = end;
    await writeSidecar(this.#names.index(this.#names.active), read, end, index);
  }

  #noteClosed(active: LogFiles['active'], path: string): void {
    // A deleted file may have had the same number.
    this.#summaries.delete(path);
    this.#closed.delete(path);
    const index = this.#active.get(active);
    if (index) this.#keep(path, index);
    if (this.#isUsed) this.#startBackground();
  }

  #startBackground(): void {
    this.#background = Promise.resolve(this.#background).then(() => this.#indexClosed());
  }

  /** Indexes all closed segments. The index of an unreadable segment is left to its next reader. */
  async #indexClosed(): Promise<void> {
    const { active, closed } = this.#log.retainFiles();
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
      if (await this.#readSidecar(file, { left: 0 })) continue;
      const index = await this.#indexOf(file, { left: 0 }, undefined);
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

/** Ranges of a closed segment. */
export interface Summary extends Ranges {
  /** Counts of a segment from the last day, because these are requested most. */
  counted: Counted | undefined;
}

const summarize = (ranges: Ranges, { minutes, keys }: Counted): Summary => {
  const isRecent = ranges.times.max > Date.now() - dayMs;
  return { ...ranges, counted: isRecent ? { minutes, keys } : undefined };
};

/** Drops the counts of a segment once it is older than the last day. */
const age = (summary: Summary): void => {
  if (summary.times.max <= Date.now() - dayMs) summary.counted = undefined;
};
