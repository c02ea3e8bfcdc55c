import { rename, unlink } from 'node:fs/promises';
import { createSerial } from '../../lib/scheduling.ts';
import { dayMs } from '../../lib/units.ts';
import {
  type ActiveFile,
  appendAndSync,
  compareFile,
  cutBack,
  isAtEnd,
  openActiveFile,
  readFileSize,
} from './active-file.ts';
import { JournalError, passIfGone } from './errors.ts';
import { type FileNames, type Hold, nextNumber, removeOldSegments, type Sync } from './files.ts';
import { toMark } from './line.ts';
import type { JournalSettings } from './options.ts';
import { findLastSeqIn } from './read/files.ts';
import { RecentRecords } from './recent.ts';

const attempts = 3;

/** Milliseconds after a check for which a file is assumed to be unchanged. */
const trustedMs = 1000;
const probe = Buffer.from(`${' '.repeat(4095)}\n`);

/** Files of a journal. Methods must not run concurrently, except for methods that read. */
export class SegmentStore {
  /** Runs the steps of all readers one at a time, so that reading uses at most one thread of Node's pool. */
  readonly readSerially = createSerial();
  readonly recent: RecentRecords;
  readonly #names: FileNames;
  readonly #sync: Sync;
  readonly #settings: JournalSettings;
  #active: ActiveFile;
  #closed: readonly string[];
  readonly #holds: Hold[] = [];
  readonly #replacedListeners = new Set<() => void>();
  /** Time of the last check that found the active file unchanged. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  #noteClosed: (active: ActiveFile['shared'], path: string) => void = () => undefined;

  private constructor(
    names: FileNames,
    sync: Sync,
    settings: JournalSettings,
    active: ActiveFile,
    closed: readonly string[],
  ) {
    this.#names = names;
    this.#sync = sync;
    this.#settings = settings;
    this.recent = new RecentRecords(settings.recentCount);
    this.#active = active;
    this.#closed = closed;
  }

  static async open(names: FileNames, sync: Sync, settings: JournalSettings): Promise<SegmentStore> {
    const active = await openActiveFile(names, sync, settings);
    try {
      return new SegmentStore(names, sync, settings, active, await listClosedPaths(names));
    } catch (error) {
      await active.shared.release();
      throw error;
    }
  }

  /** Writes and syncs a batch of whole lines. If this throws, the batch may or may not be in the file. */
  async commit(batch: Buffer): Promise<void> {
    if (this.#active.size > 0 && this.#active.size + batch.length > this.#settings.segmentBytes) {
      await this.startSegment();
    }
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await this.#append(batch)) return;
    }
    throw new JournalError('unavailable', `another program is changing ${this.#names.active}`);
  }

  /** Reopens the active file if it has changed since the last commit. */
  async refresh(): Promise<void> {
    if ((await compareFile(this.#active, this.#active.size)) !== 'same') await this.#reopen();
  }

  /** True if a check within the last second found the active file unchanged since the last commit. */
  get isUnchanged(): boolean {
    return performance.now() - this.#checkedAt < trustedMs;
  }

  /** Resolves to true if the active file is unchanged since the last commit. */
  async check(): Promise<boolean> {
    const isSame = (await compareFile(this.#active, this.#active.size)) === 'same';
    this.#checkedAt = isSame ? performance.now() : Number.NEGATIVE_INFINITY;
    return isSame;
  }

  get isEmpty(): boolean {
    return this.#active.size === 0 && this.#closed.length === 0;
  }

  /**
   * Applies the retention settings. First closes an active file whose records are a day old, so that they are
   * eventually deleted. If no records remain, a mark preserves `lastSeq`.
   */
  async applyRetention(lastSeq: number): Promise<void> {
    const { size, begunAt } = this.#active;
    if (this.#settings.retainDays > 0 && size > 0 && Date.now() - begunAt > dayMs) {
      await this.startSegment();
    } else {
      await this.#removeOld();
    }
    if (lastSeq > 0 && this.#active.size === 0 && this.#closed.length === 0) {
      await this.commit(Buffer.from(toMark(lastSeq)));
    }
  }

  /** Keeps segments that the holder still needs. Takes effect with the next deletion. */
  holdFrom(hold: Hold): void {
    this.#holds.push(hold);
  }

  /** Calls the listener with the active file and its new path when the file is closed. */
  onClosed(listener: (active: ActiveFile['shared'], path: string) => void): void {
    this.#noteClosed = listener;
  }

  /**
   * Calls the listener after another program moves or changes the active file. Returns a function that removes the
   * listener.
   */
  onReplaced(listener: () => void): () => void {
    this.#replacedListeners.add(listener);
    return () => void this.#replacedListeners.delete(listener);
  }

  /** Closes the active file for good, gives it a number, and opens an empty file. */
  async startSegment(): Promise<void> {
    // After a failed write, the cut may fail, too. Unacknowledged records are then either listed or skipped.
    await cutBack(this.#active).catch(() => undefined);
    const size = await readFileSize(this.#names.active);
    let path: string | undefined;
    if (size === 0) {
      await unlink(this.#names.active).catch(passIfGone);
    } else if (size !== undefined) {
      const closed = this.#names.closed(nextNumber(await this.#names.listClosed()));
      await rename(this.#names.active, closed).catch(passIfGone);
      path = closed;
    }
    const previous = this.#active.shared;
    await this.#use(await openActiveFile(this.#names, this.#sync, this.#settings));
    if (path !== undefined) this.#noteClosed(previous, path);
    await this.#removeOld();
  }

  /** Throws if bytes do not reach the active file. Otherwise restores the file. */
  async probe(): Promise<void> {
    await appendAndSync(this.#active, probe, this.#sync);
    const found = await compareFile(this.#active, this.#active.size + probe.length);
    await cutBack(this.#active);
    if (found !== 'same') {
      throw new JournalError(
        'unavailable',
        `${this.#active.path} does not contain the records that were written to it`,
      );
    }
  }

  /**
   * Returns the readable bytes of the active file, and the closed segments, newest first. The caller must release
   * `active`.
   */
  retainFiles() {
    this.#active.shared.retain();
    return { active: this.#active.shared, size: this.#active.size, closed: this.#closed };
  }

  async close(): Promise<void> {
    await this.#active.shared.release();
  }

  /** Resolves to true if the batch is in the log. */
  async #append(batch: Buffer): Promise<boolean> {
    const end = this.#active.size + batch.length;
    await appendAndSync(this.#active, batch, this.#sync);
    const found = await compareFile(this.#active, end);
    // If the file was truncated before the write, it contains the batch, and writing the batch again would duplicate
    // it.
    const written = found === 'cut' ? await isAtEnd(this.#active, batch) : found !== 'moved';
    if (!written) {
      await cutBack(this.#active);
    } else if (found !== 'cut') {
      this.#active.begunAt = this.#active.size > 0 ? this.#active.begunAt : Date.now();
      this.#active.size = end;
    }
    if (found !== 'same') await this.#reopen();
    else this.#checkedAt = performance.now();
    return written;
  }

  async #reopen(): Promise<void> {
    await this.#use(await openActiveFile(this.#names, this.#sync, this.#settings));
    this.recent.clear();
    this.#settings.report({ type: 'reopened' });
    for (const listener of this.#replacedListeners) listener();
  }

  async #use(next: ActiveFile): Promise<void> {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    const closed = await listClosedPaths(this.#names).catch(async (error) => {
      await next.shared.release();
      throw error;
    });
    const previous = this.#active;
    this.#active = next;
    this.#closed = closed;
    await previous.shared.release();
  }

  async #removeOld(): Promise<void> {
    if (this.#settings.awaitsHold && this.#holds.length === 0) return;
    const files = await removeOldSegments(this.#names, this.#settings, this.#holds, (path) =>
      findLastSeqIn(path, this.#settings.maxLineBytes),
    );
    if (files.length > 0) {
      this.recent.clear();
      await this.#sync.directory(this.#names.directory);
      this.#closed = await listClosedPaths(this.#names);
      this.#settings.report({ type: 'segments-removed', files });
    }
  }
}

/**
 * Resolves to the closed segments, newest first. Called when files change instead of for each listing, because the cost
 * grows with the log.
 */
const listClosedPaths = async (names: FileNames): Promise<readonly string[]> =>
  (await names.listClosed()).map(names.closed).reverse();
