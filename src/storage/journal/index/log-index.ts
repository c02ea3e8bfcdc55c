import { setTimeout } from 'node:timers/promises';
import type { FileNames } from '../files.ts';
import type { JournalSettings } from '../options.ts';
import { type Log, type LogFile, type LogFiles, openClosed, openLogFiles } from '../read/files.ts';
import type { ReadAt } from '../read/lines.ts';
import { type IndexBlock, Keys, type Ranges, type Source } from './block.ts';
import { age, FileIndex, readSidecar, type Summary, summarize, writeSidecar } from './file-index.ts';

/** How many closed segments' indexes are in memory, about 1 MiB each; those of others are read from their sidecars. */
const keptIndexes = 16;

/** In the background so many blocks are indexed before a pause that leaves the processor to requests. */
const blocksAtOnce = 16;
const pauseMs = 10;

/** Bytes that a request may still read. */
export interface Budget {
  left: number;
}

/** A file of the log while it is open, with its index. */
export interface IndexedFile {
  index: FileIndex;
  /** How many of its bytes may be read. */
  end: number;
  /** Reading counts towards the budget. */
  source: Source;
}

/** A block, and how its bytes are read. */
export interface ReadableBlock {
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
    for (const path of closed) {
      if (this.#isEnded) return;
      if (!this.#summaries.has(path)) await this.#indexFile(path).catch(() => undefined);
    }
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

  #toSource(read: ReadAt): Source {
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
