import { createSerial } from '../../lib/scheduling.ts';
import { hourMs } from '../../lib/units.ts';
import { Batcher, type Waiting } from '../batcher.ts';
import { codeOf, JournalError, toBracketedReason } from './errors.ts';
import type { AssertFreeSpace } from './files.ts';
import { createId, type GroupPart, type LogRecord, lineEndBytes, toLineStart, toRecordLine } from './line.ts';
import { type JournalSettings, maxBatchBytes, maxGroupBytes } from './options.ts';
import type { SegmentStore } from './segment-store.ts';

/**
 * Maximum milliseconds that a batch waits for more records. Corresponds to the duration of a sync, so the total time at
 * most doubles.
 */
const gatherMs = 1;

/** Start of a line, with its record. */
interface NewLine {
  start: string;
  record: LogRecord;
  id: string;
}

/** Lines that are stored together. `toResult` creates the result of the append. */
interface NewLines {
  lines: readonly NewLine[];
  toResult(firstSeq: number): unknown;
}

type Batch = readonly Waiting<NewLines, unknown>[];

/** Position of a record in the log. */
export interface Appended {
  id: string;
  /**
   * Seq. It increases by one with each record. A gap means that the records in between failed and were not
   * acknowledged.
   */
  seq: number;
}

/**
 * The only writer of a log. All waiting records become one write and one sync, and are acknowledged together. Records
 * that arrive in the meantime form the next batch. After a failure, nothing is written or acknowledged until a new
 * segment is open and synced. The writer retries until this succeeds.
 */
export class JournalWriter {
  readonly #store: SegmentStore;
  readonly #settings: JournalSettings;
  readonly #assertFreeSpace: AssertFreeSpace;
  readonly #batcher: Batcher<NewLines, unknown>;
  readonly #serially = createSerial();
  readonly #listeners = new Set<(lastSeq: number) => void>();
  #lastSeq: number;
  #nextSeq: number;
  /**
   * True if nothing was waiting when the last batch was stored. Another program may have changed the file since then.
   */
  #wasIdle = true;
  /** Error of the last attempt to recover. Set while records are refused. */
  #failure: Error | undefined;
  /** True if a failure has been reported and no batch has been stored since then. */
  #isFailureReported = false;
  /** True if the active file may have lost bytes. The file is then neither written nor synced again. */
  #suspect = false;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;
  readonly #retention: NodeJS.Timeout | undefined;

  constructor(store: SegmentStore, settings: JournalSettings, assertFreeSpace: AssertFreeSpace, lastSeq: number) {
    this.#store = store;
    this.#settings = settings;
    this.#assertFreeSpace = assertFreeSpace;
    const limits = { maxCount: settings.queueCount, maxSize: settings.queueBytes, batchSize: maxBatchBytes, gatherMs };
    this.#batcher = new Batcher(limits, (batch) => this.#serially(() => this.#write(batch)));
    this.#lastSeq = lastSeq;
    this.#nextSeq = lastSeq + 1;
    if (settings.retainDays > 0) {
      this.#retention = setInterval(() => void this.applyRetention(), hourMs).unref();
    }
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Number of records that are not on disk yet. */
  get waiting(): number {
    return this.#batcher.count;
  }

  /** Seq of the last stored record. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Highest assigned seq. Includes records that are being stored or have failed. */
  get assignedSeq(): number {
    return this.#nextSeq - 1;
  }

  /**
   * Stores the record as one line, by default with a new id. Rejects with a JournalError if the line is not stored.
   * After `unavailable`, the log may still contain the line.
   */
  append(record: LogRecord, id = createId()): Promise<Appended> {
    const line = this.#toNewLine(record, id);
    return this.#append([line], [measureLine(line)], (seq) => ({ id, seq }));
  }

  /** Stores the records as lines, by default with new ids. The log contains either all of them or none. */
  appendGroup(records: readonly LogRecord[], ids: readonly string[] = []): Promise<Appended[]> {
    if (records.length === 0) return Promise.resolve([]);
    const lines = records.map((record, index) =>
      this.#toNewLine(record, ids[index] ?? createId(), toPart(index, records.length)),
    );
    return this.#append(lines, lines.map(measureLine), (seq) =>
      lines.map(({ id }, index) => ({ id, seq: seq + index })),
    );
  }

  /** Calls the listener after each write. The listener must not throw. Returns a function that removes the listener. */
  onStored(listener: (lastSeq: number) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Deletes segments that exceed the retention settings. */
  applyRetention(): Promise<void> {
    return this.#serially(() => this.#attempt(() => this.#store.applyRetention(this.assignedSeq)));
  }

  /** Reopens the active file if it was replaced. After a failure, immediately tries to write again. */
  reopen(): Promise<void> {
    return this.#serially(async () => {
      if (this.#closed) return;
      await (this.#failure ? this.#recover() : this.#attempt(() => this.#store.refresh()));
    });
  }

  /** Stores waiting records, then closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#retention);
    await this.#batcher.running;
    await this.#serially(async () => {
      clearTimeout(this.#retry);
      await this.#store.close();
    });
  }

  #toNewLine(record: LogRecord, id: string, part?: GroupPart): NewLine {
    return { start: toLineStart(record, id, part, this.#settings.toJson), record, id };
  }

  #append<T>(lines: readonly NewLine[], sizes: readonly number[], toResult: (firstSeq: number) => T): Promise<T> {
    const refusal = this.#findRefusal(sizes);
    if (refusal) return Promise.reject(refusal);
    const added = this.#batcher.add({ lines, toResult }, sum(sizes), lines.length);
    if (!added) return Promise.reject(new JournalError('queue-full', 'too many records are waiting for the disk'));
    return added.promise as Promise<T>;
  }

  /** Returns the reason why lines of these sizes cannot be stored. Undefined if they can be stored. */
  #findRefusal(sizes: readonly number[]): JournalError | undefined {
    const { maxLineBytes } = this.#settings;
    if (sizes.some((size) => size > maxLineBytes)) {
      return new JournalError('too-large', `a record must not exceed ${maxLineBytes} bytes`);
    }
    if (sizes.length > 1 && sum(sizes) > maxGroupBytes) {
      const message = `records that are stored together must not exceed ${maxGroupBytes} bytes`;
      return new JournalError('too-large', message);
    }
    if (this.#closed) return new JournalError('closed', 'the journal is closed');
    return this.#failure && toUnavailable(this.#failure);
  }

  async #write(batch: Batch): Promise<void> {
    if (batch.length === 0) return;
    if (this.#wasIdle) await this.#attempt(() => this.#store.refresh());
    if (this.#failure) rejectAll(batch, toUnavailable(this.#failure));
    else await this.#attempt(() => this.#commit(batch), batch);
    this.#wasIdle = this.#batcher.queued === 0;
  }

  async #commit(batch: Batch): Promise<void> {
    await this.#assertFreeSpace(batch.reduce((bytes, { size }) => bytes + size, 0));
    const firstSeq = this.#nextSeq;
    const lines = batch.flatMap(({ item }) => item.lines);
    const texts = lines.map(({ start }, index) => toRecordLine(start, firstSeq + index));
    this.#nextSeq += lines.length;
    const { recent } = this.#store;
    const { version } = recent;
    await this.#store.commit(Buffer.from(texts.join('')));
    // If another program has changed the file in the meantime, its lines may come after these lines.
    if (recent.version === version) {
      for (const [index, { record, id }] of lines.entries()) {
        recent.add({ record, id, seq: firstSeq + index, length: texts[index]?.length ?? 0, isStored: false });
      }
    }
    this.#lastSeq = firstSeq + lines.length - 1;
    let seq = firstSeq;
    for (const waiting of batch) {
      waiting.resolve(waiting.item.toResult(seq));
      seq += waiting.item.lines.length;
    }
    for (const listener of this.#listeners) listener(this.#lastSeq);
    if (this.#isFailureReported) {
      this.#isFailureReported = false;
      this.#settings.report({ type: 'recovered' });
    }
  }

  async #attempt(step: () => Promise<void>, batch: Batch = []): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#store.recent.clear();
      this.#noteFailure(error as Error);
      rejectAll(batch, toUnavailable(error as Error));
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
      this.#batcher.rejectQueued(toUnavailable(error as Error));
      this.#retry = setTimeout(() => void this.#serially(() => this.#recover()), this.#settings.retryMs);
      this.#retry.unref();
    }
  }
}

const rejectAll = (batch: Batch, error: JournalError): void => {
  for (const waiting of batch) waiting.reject(error);
};

const toUnavailable = (cause: Error): JournalError =>
  new JournalError('unavailable', `the log cannot be written at the moment${toBracketedReason(cause)}`, { cause });

/** Returns the maximum size of a complete line in bytes. */
const measureLine = ({ start }: NewLine): number => Buffer.byteLength(start) + lineEndBytes;

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

const toPart = (index: number, count: number): GroupPart | undefined =>
  count > 1 ? { index: index + 1, count } : undefined;
