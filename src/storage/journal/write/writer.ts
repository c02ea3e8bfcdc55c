import { codeOf, JournalError, toReason } from '../errors.ts';
import type { AssertFreeSpace } from '../files/free-space.ts';
import { toLine } from '../format/line.ts';
import { maxBatchBytes, type Settings } from '../options.ts';
import { createGathering, createSerial } from '../scheduling.ts';
import { type Pending, Queue } from './queue.ts';
import type { SegmentStore } from './segment-store.ts';

const hourMs = 60 * 60 * 1000;

/**
 * The only writer of a log. All waiting records become one write and one sync, and are acknowledged together; records
 * that arrive meanwhile form the next batch. After a failure, nothing is written or acknowledged until a new segment is
 * open and synced, which is retried until it succeeds.
 */
export class Writer {
  readonly #store: SegmentStore;
  readonly #settings: Settings;
  readonly #assertFreeSpace: AssertFreeSpace;
  readonly #queue: Queue;
  readonly #serially = createSerial();
  readonly #gather = createGathering(() => this.#queue.waiting);
  readonly #listeners = new Set<(lastSeq: number) => void>();
  #nextSeq: number;
  /** Why the last attempt to recover failed; set while records are refused. */
  #failure: Error | undefined;
  /** A failure was reported, and no batch has been stored since. */
  #isFailureReported = false;
  /** The active file may have lost bytes: it is not written or synced again. */
  #suspect = false;
  #draining = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;
  readonly #retention: NodeJS.Timeout | undefined;

  constructor(store: SegmentStore, settings: Settings, assertFreeSpace: AssertFreeSpace, lastSeq: number) {
    this.#store = store;
    this.#settings = settings;
    this.#assertFreeSpace = assertFreeSpace;
    this.#queue = new Queue(settings.queueCount, settings.queueBytes);
    this.#nextSeq = lastSeq + 1;
    if (settings.retainDays > 0) {
      this.#retention = setInterval(() => void this.applyRetention(), hourMs).unref();
    }
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Records that are not on disk yet. */
  get waiting(): number {
    return this.#queue.count;
  }

  get lastSeq(): number {
    return this.#nextSeq - 1;
  }

  /**
   * Resolves, to what `toResult` makes of the first line's seq, when the lines are on disk. Rejects with a JournalError:
   * all of them may be in the log, or none.
   */
  append<T>(starts: readonly string[], toResult: (firstSeq: number) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new JournalError('closed', 'the journal is closed'));
    if (this.#failure) return Promise.reject(toUnavailable(this.#failure));
    const appended = this.#queue.add(starts, toResult);
    if (!this.#draining) {
      this.#draining = true;
      void this.#serially(() => this.#drain());
    }
    return appended;
  }

  /** Calls the listener, which must not throw, after each write; returns the function that ends it. */
  onStored(listener: (lastSeq: number) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Removes what the retention settings no longer keep. */
  applyRetention(): Promise<void> {
    return this.#serially(() => this.#attempt(() => this.#store.applyRetention(this.lastSeq)));
  }

  /** Opens the active file again if it was replaced; after a failure, tries to write again now. */
  reopen(): Promise<void> {
    return this.#serially(() => (this.#failure ? this.#recover() : this.#attempt(() => this.#store.refresh())));
  }

  /** Stores waiting records, then closes the file. */
  close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#retention);
    return this.#serially(async () => {
      clearTimeout(this.#retry);
      await this.#store.close();
    });
  }

  async #drain(): Promise<void> {
    try {
      await this.#attempt(() => this.#store.refresh());
      while (this.#queue.waiting > 0) {
        if (this.#settings.gathers) await this.#gather();
        const batch = this.#queue.take(maxBatchBytes);
        await this.#attempt(() => this.#commit(batch), batch);
      }
    } finally {
      this.#draining = false;
    }
  }

  async #commit(batch: Pending[]): Promise<void> {
    await this.#assertFreeSpace(batch.reduce((sum, { bytes }) => sum + bytes, 0));
    let seq = this.#nextSeq;
    const firsts: number[] = [];
    const lines: string[] = [];
    for (const { starts } of batch) {
      firsts.push(seq);
      for (const start of starts) lines.push(toLine(start, seq++));
    }
    this.#nextSeq = seq;
    const { recent } = this.#store;
    const { generation } = recent;
    await this.#store.commit(Buffer.from(lines.join('')));
    // If the file was changed by others meanwhile, their lines may stand behind these.
    if (recent.generation === generation)
      for (const [index, line] of lines.entries()) recent.add(seq - lines.length + index, line);
    for (const [index, { resolve }] of batch.entries()) {
      resolve(firsts[index] ?? 0);
    }
    this.#notify(seq - 1);
    if (this.#isFailureReported) {
      this.#isFailureReported = false;
      this.#settings.report({ type: 'recovered' });
    }
  }

  #notify(lastSeq: number): void {
    for (const listener of this.#listeners) listener(lastSeq);
  }

  async #attempt(step: () => Promise<void>, batch: Pending[] = []): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#store.recent.clear();
      this.#noteFailure(error as Error);
      for (const { reject } of batch) {
        reject(toUnavailable(error as Error));
      }
      await this.#recover();
    }
  }

  #noteFailure(error: Error): void {
    this.#suspect ||= codeOf(error) !== 'low-space';
    if (!this.#isFailureReported) {
      this.#isFailureReported = true;
      this.#settings.report({ type: 'failed', error });
    }
  }

  async #recover(): Promise<void> {
    clearTimeout(this.#retry);
    try {
      await this.#assertFreeSpace(0);
      if (this.#suspect) {
        await this.#store.startSegment();
        await this.#store.probe();
      }
      this.#suspect = false;
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error as Error;
      this.#queue.rejectAll(toUnavailable(error as Error));
      this.#retry = setTimeout(() => void this.#serially(() => this.#recover()), this.#settings.retryMs);
      this.#retry.unref();
    }
  }
}

const toUnavailable = (cause: Error): JournalError =>
  new JournalError('unavailable', `the log cannot be written at the moment${toReason(cause)}`, { cause });
