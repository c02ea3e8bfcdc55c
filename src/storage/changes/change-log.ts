import { StoreUnavailable } from '../../expected-errors.ts';
import { Batcher, type Waiting } from '../batcher.ts';
import { toReason } from '../journal/errors.ts';
import type { Journal } from '../journal/journal.ts';
import { createSerial } from '../scheduling.ts';
import type { Changes, State } from './changes.ts';
import type { StateFile } from './state-file.ts';

/**
 * How many changes may wait for the disk, and characters of them, also of those that are written as one record. A batch waits
 * at most about as long as a sync takes for others.
 */
const limits = { maxCount: 10_000, maxSize: 16 * 1024 * 1024, batchSize: 512 * 1024, gatherMs: 1 };

/** The state is written again when the log has grown by so many characters, and by as much as the state takes up. */
const leastGrowth = 16 * 1024 * 1024;

/** Milliseconds between attempts to accept changes again after a failure. */
const retryMs = 1000;

/**
 * Changes as records of a log. All that wait become one record, which is in the log whole or not at all, and are applied
 * when it is on disk; those that arrive meanwhile form the next one. Now and then the state is written to a file of its
 * own, and the log before it is deleted.
 *
 * After a failed write the last record may be in the log or not. Changes are then refused until the state, without that
 * record, is on disk as of a later seq.
 */
export class ChangeLog<Change, Result> implements Changes<Change, Result> {
  readonly #parts: Parts<Change, Result>;
  readonly #batcher: Batcher<Change, Result>;
  /** Saves run one by one. */
  readonly #serially = createSerial();
  #waitingSave: Promise<void> | undefined;
  #isSaving = false;
  #isSaveFailing = false;
  /** Why changes are refused, if they are. */
  #failure: Error | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The last record that was applied, and the one as of which the state is on disk. */
  #appliedSeq: number;
  #savedSeq: number;
  /** Characters written since the state was. */
  #growth: number;

  constructor(parts: Parts<Change, Result>, { seq, savedSeq, growth }: Progress) {
    this.#parts = parts;
    this.#appliedSeq = seq;
    this.#savedSeq = savedSeq;
    this.#growth = growth;
    this.#batcher = new Batcher(limits, (batch) => this.#commit(batch));
  }

  /** The log before this seq is not needed. */
  get savedSeq(): number {
    return this.#savedSeq;
  }

  write(change: Change): Promise<Result> {
    if (this.#failure || this.#isClosed) throw createRefusal(this.#failure);
    const length = this.#parts.state.lengthOf(change);
    const added = length > limits.maxSize ? undefined : this.#batcher.add(change, length);
    if (!added) throw new StoreUnavailable('Too many changes are waiting for the disk; try again in a second');
    return added.promise;
  }

  countWaiting(): number {
    return this.#batcher.size;
  }

  isReady(): boolean {
    return this.#failure === undefined && this.#parts.journal.state().healthy;
  }

  /** While another save runs, this one waits for it: that one may have begun before the last change. Only one waits. */
  save(): Promise<void> {
    this.#waitingSave ??= this.#serially(() => {
      this.#waitingSave = undefined;
      return this.#save();
    });
    return this.#waitingSave;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#batcher.running;
    await this.#serially(() => this.#parts.journal.close());
  }

  async #commit(batch: readonly Waiting<Change, Result>[]): Promise<void> {
    const changes = batch.map(({ item }) => this.#parts.state.toJson(item));
    for (const { size } of batch) this.#growth += size;
    try {
      const seq = await this.#parts.journal.appendBatch(`{"changes":[${changes.join(',')}]}`);
      for (const waiting of batch) waiting.resolve(this.#parts.state.apply(waiting.item));
      this.#appliedSeq = seq;
      this.#saveIfDue();
    } catch (error) {
      this.#fail(error as Error, batch);
    }
  }

  #saveIfDue(): void {
    const isDue = this.#growth > Math.max(leastGrowth, this.#parts.file.size);
    if (isDue && !this.#isSaving) void this.save().catch(() => undefined);
  }

  #fail(error: Error, batch: readonly Waiting<Change, Result>[]): void {
    this.#failure = error;
    this.#parts.onLost();
    const refusal = createRefusal(error);
    for (const waiting of batch) waiting.reject(refusal);
    this.#batcher.rejectQueued(refusal);
    this.#scheduleRecovery();
  }

  #scheduleRecovery(): void {
    this.#retry = setTimeout(() => void this.#recover(), retryMs).unref();
  }

  async #recover(): Promise<void> {
    try {
      if (this.#isClosed || !this.#parts.journal.state().healthy) throw this.#failure;
      // A record that was refused before it was written, for want of space, has no seq and cannot be in the log.
      if (this.#parts.journal.state().lastSeq > this.#appliedSeq) await this.save();
      this.#failure = undefined;
    } catch {
      if (!this.#isClosed) this.#scheduleRecovery();
    }
  }

  async #save(): Promise<void> {
    const seq = this.#failure ? this.#parts.journal.state().lastSeq : this.#appliedSeq;
    const growth = this.#growth;
    this.#isSaving = true;
    try {
      await this.#parts.file.write(seq, this.#parts.state.changes(), this.#parts.state.toJson);
    } catch (error) {
      this.#noteSaveFailure(error as Error);
      throw error;
    } finally {
      this.#isSaving = false;
    }
    this.#isSaveFailing = false;
    this.#growth -= growth;
    this.#savedSeq = seq;
    this.#appliedSeq = Math.max(this.#appliedSeq, seq);
  }

  #noteSaveFailure(error: Error): void {
    // Not again with the next batch, but when the log has grown by as much again.
    this.#growth = 0;
    if (!this.#isSaveFailing) this.#parts.report(error);
    this.#isSaveFailing = true;
  }
}

interface Parts<Change, Result> {
  journal: Journal;
  file: StateFile;
  state: State<Change, Result>;
  /** Called when changes that were written will not be applied. */
  onLost(): void;
  /** Gets the error when the state could not be written, once until it can be; the log is kept then. */
  report(error: Error): void;
}

interface Progress {
  /** Of the last record that was applied, and of the state's file. */
  seq: number;
  savedSeq: number;
  /** Characters of the log after the state. */
  growth: number;
}

const createRefusal = (cause: Error | undefined): StoreUnavailable =>
  // The journal's error has the system's as its cause.
  new StoreUnavailable(`Changes cannot be stored at the moment${toReason(cause?.cause)}; try again in a second`, {
    cause,
  });
