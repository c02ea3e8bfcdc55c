import { codeOf, JournalError, toReason } from './errors.ts';
import type { AssertFreeSpace } from './files.ts';
import { createId, type LogRecord, lineEndBytes, toLine, toLineStart } from './line.ts';
import { maxBatchBytes, maxGroupBytes, type Settings } from './options.ts';
import { createGathering, createSerial } from './scheduling.ts';
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
    const { version } = recent;
    await this.#store.commit(Buffer.from(lines.join('')));
    // If the file was changed by others meanwhile, their lines may stand behind these.
    if (recent.version === version)
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

/** The identity of a record in the log. */
export interface Appended {
  id: string;
  /** One higher for each record; a gap means that records in between failed and were not acknowledged. */
  seq: number;
}

/** A record, or a group of records, that waits for its lines to be on disk. */
export interface Pending {
  /** The lines up to their ids. */
  starts: readonly string[];
  bytes: number;
  /** To be called with the seq of the first line. */
  resolve(firstSeq: number): void;
  reject(error: JournalError): void;
}

/** The bytes of whole lines, of which these are the starts. */
const countBytes = (starts: readonly string[]): number =>
  starts.reduce((sum, start) => sum + Buffer.byteLength(start) + lineEndBytes, 0);

/** Records in order of arrival, bounded in count and bytes. Those taken count until they are settled. */
export class Queue {
  readonly #maxCount: number;
  readonly #maxBytes: number;
  #waiting: Pending[] = [];
  #count = 0;
  #bytes = 0;

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  /** Records that wait or were taken and are not settled. */
  get count(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Settles with the lines, which are taken together: resolves to what `toResult` makes of the first one's seq; rejects
   * at once with `queue-full`.
   */
  add<T>(starts: readonly string[], toResult: (firstSeq: number) => T): Promise<T> {
    const bytes = countBytes(starts);
    // A group larger than the limit finds room when nothing else waits.
    const isFull = this.#count + starts.length > Math.max(this.#maxCount, starts.length);
    if (isFull || this.#bytes + bytes > this.#maxBytes) {
      return Promise.reject(new JournalError('queue-full', 'too many records wait for the disk'));
    }
    this.#count += starts.length;
    this.#bytes += bytes;
    const leave = (): void => {
      this.#count -= starts.length;
      this.#bytes -= bytes;
    };
    // One promise per record, for speed.
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        starts,
        bytes,
        resolve: (firstSeq) => {
          leave();
          resolve(toResult(firstSeq));
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      });
    });
  }

  /** Takes the oldest records that fit into `maxBytes` together; at least one if the queue is not empty. */
  take(maxBytes: number): Pending[] {
    let total = 0;
    const end = this.#waiting.findIndex(({ bytes }, index) => {
      total += bytes;
      return index > 0 && total > maxBytes;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  rejectAll(error: JournalError): void {
    for (const pending of this.#waiting.splice(0)) {
      pending.reject(error);
    }
  }
}

/** Stores the record, or its JSON, as one line, with a new id by default. */
export const appendRecord = (
  writer: Writer,
  record: LogRecord | string,
  maxLineBytes: number,
  id = createId(),
): Promise<Appended> => {
  const start = toLineStart(record, id);
  if (isTooLong(start, maxLineBytes)) return Promise.reject(createLineError(maxLineBytes));
  return writer.append([start], (seq) => ({ id, seq }));
};

/** Stores the records as lines of which all are in the log or none; one record is a line like any other. */
export const appendGroup = (
  writer: Writer,
  records: readonly LogRecord[],
  maxLineBytes: number,
): Promise<Appended[]> => {
  if (records.length === 0) return Promise.resolve([]);
  const ids = records.map(() => createId());
  const starts = records.map((record, index) => toLineStart(record, ids[index] ?? '', toPart(index, records.length)));
  if (starts.some((start) => isTooLong(start, maxLineBytes))) return Promise.reject(createLineError(maxLineBytes));
  if (countBytes(starts) > maxGroupBytes) {
    const message = `the lines of records that are stored together are at most ${maxGroupBytes} bytes`;
    return Promise.reject(new JournalError('too-large', message));
  }
  return writer.append(starts, (seq) => ids.map((id, index) => ({ id, seq: seq + index })));
};

const toPart = (index: number, count: number) => (count > 1 ? { index: index + 1, count } : undefined);

const isTooLong = (start: string, maxBytes: number): boolean => Buffer.byteLength(start) + lineEndBytes > maxBytes;

const createLineError = (maxBytes: number): JournalError =>
  new JournalError('too-large', `a record's line is at most ${maxBytes} bytes`);
