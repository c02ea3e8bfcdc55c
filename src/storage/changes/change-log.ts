import { join } from 'node:path';
import { StoreUnavailable } from '../../expected-errors.ts';
import { Batcher, type Waiting } from '../batcher.ts';
import { JournalError, toNotStored } from '../journal/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalEvent } from '../journal/options.ts';
import { describeGap, fillUp } from '../projection.ts';
import { createSerial } from '../scheduling.ts';
import type { Changes, State } from './changes.ts';
import { createStateFile, type OnDamage, type StateFile } from './state-file.ts';

/**
 * How many changes may wait for the disk, and characters of them, also of those that are written as one record. A batch waits
 * at most about as long as a sync takes for others.
 */
const limits = { maxCount: 10_000, maxSize: 16 * 1024 * 1024, batchSize: 512 * 1024, gatherMs: 1 };

/** The state is written again when the log has grown by so many characters, and by as much as the state takes up. */
const leastGrowth = 16 * 1024 * 1024;

/** Milliseconds between attempts to accept changes again after a failure. */
const retryMs = 1000;

const MiB = 1024 * 1024;

/** Closed segments are deleted as soon as the state's file does not need them. */
const options = { segmentBytes: 16 * MiB, retainBytes: 1, awaitsHold: true, maxLineBytes: 4 * MiB };

export type LogOptions = typeof options;

interface Surroundings {
  directory: string;
  /** Opens the log; events for which `isExpected` returns true need not be reported. */
  openJournal(options: LogOptions, isExpected: (event: JournalEvent) => boolean): Promise<Journal>;
  /** Gets the error when the state could not be written; the log is kept then. */
  report(error: Error): void;
  /** How many bytes of so many of the state's file are read. */
  onRead?: (done: number, total: number) => void;
}

/**
 * Opens the changes that are kept in files of a directory, and applies them to the state, which must be empty. Throws a
 * JournalError, `damaged` where a change is missing.
 */
export const openChangeLog = async <Change, Result>(
  { directory, openJournal, report, onRead }: Surroundings,
  name: string,
  state: State<Change, Result>,
  onLost: () => void,
): Promise<Changes<Change, Result>> => {
  let log: ChangeLog<Change, Result> | undefined;
  const journal = await openJournal(options, ({ type }) => {
    // What somebody moved away is missing on the next start, unless the state's file has it.
    if (type === 'reopened') log?.save().catch(() => undefined);
    return type === 'segments-removed';
  });
  try {
    const file = createStateFile(join(directory, `${name}.state`));
    // The checksum of the file is known only at its end.
    const apply = (value: unknown): void => {
      if (!tryApply(state, value)) refuse(`a change in ${name}.state is damaged or ${unknown}`);
    };
    const savedSeq = (await file.read(apply, refuse, onRead)) ?? 0;
    await fillUp(journal, savedSeq, { changes: [] });
    const replayed = await replay(journal, savedSeq, state, refuse);
    const opened = new ChangeLog({ journal, file, state, onLost, report }, { ...replayed, savedSeq });
    const ignore = (): void => undefined;
    await journal.holdFrom(() => opened.savedSeq, Number.POSITIVE_INFINITY, ignore);
    log = opened;
    return opened;
  } catch (error) {
    await journal.close();
    throw error;
  }
};

/**
 * Applies the changes that are kept in files of a directory to the state, which must be empty, as far as they can be read;
 * `onDamage` gets what is missing. Changes of the state's file for which `isWhole` returns false are left out.
 */
export const readChangeLog = async <Change>(
  { directory, openJournal }: Pick<Surroundings, 'directory' | 'openJournal'>,
  name: string,
  state: State<Change, unknown>,
  { isWhole, onDamage }: { isWhole(change: Change): boolean; onDamage: OnDamage },
): Promise<void> => {
  const journal = await openJournal(options, () => false);
  try {
    const path = join(directory, `${name}.state`);
    const apply = (value: unknown): void => {
      if (!tryApply(state, value, isWhole)) onDamage(`a change in ${path} is damaged or ${unknown}`);
    };
    await replay(journal, await createStateFile(path).read(apply, onDamage), state, onDamage);
  } finally {
    await journal.close();
  }
};

const refuse: OnDamage = (damage) => {
  throw new JournalError('damaged', damage);
};

/** Applies the records after a seq, all if it is unknown; resolves to the last one's, and the characters of all. */
const replay = async <Change>(
  journal: Journal,
  savedSeq: number | undefined,
  state: State<Change, unknown>,
  onDamage: OnDamage,
): Promise<{ seq: number; growth: number }> => {
  let last = savedSeq;
  let growth = 0;
  for await (const records of journal.readAfter(savedSeq ?? 0)) {
    for (const { seq, changes } of records) {
      const next = (last ?? seq - 1) + 1;
      if (seq !== next) onDamage(describeGap(next, seq - 1));
      last = seq;
      const lengths = Array.isArray(changes) ? changes.map((change) => tryApply(state, change)) : [0];
      if (!lengths.every(Boolean)) onDamage(`record ${seq} of the log ${unknown}`);
      growth += lengths.reduce((sum, length) => sum + length, 0);
    }
  }
  const { lastSeq } = journal.state();
  if (last !== undefined && last < lastSeq) onDamage(describeGap(last + 1, lastSeq));
  return { seq: last ?? 0, growth };
};

/** Applies what was stored; returns its length as JSON, or 0 for a change that this version cannot apply. */
const tryApply = <Change>(
  state: State<Change, unknown>,
  value: unknown,
  isWhole: (change: Change) => boolean = () => true,
): number => {
  try {
    const change = state.toChange(value);
    if (change === undefined || !isWhole(change)) return 0;
    state.apply(change);
    return state.lengthOf(change);
  } catch {
    return 0;
  }
};

const unknown = 'cannot be read by this version of signalbox';

/**
 * Changes as records of a log. All that wait become one record, which is in the log whole or not at all, and are applied
 * when it is on disk; those that arrive meanwhile form the next one. Now and then the state is written to a file of its
 * own, and the log before it is deleted.
 *
 * After a failed write the last record may be in the log or not. Changes are then refused until the state, without that
 * record, is on disk as of a later seq.
 */
class ChangeLog<Change, Result> implements Changes<Change, Result> {
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
    if (this.#failure || this.#isClosed) throw toNotStored('Changes', this.#failure);
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
    const refusal = toNotStored('Changes', error);
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
      if (this.#parts.journal.state().assignedSeq > this.#appliedSeq) await this.save();
      this.#failure = undefined;
    } catch {
      if (!this.#isClosed) this.#scheduleRecovery();
    }
  }

  async #save(): Promise<void> {
    const seq = this.#failure ? this.#parts.journal.state().assignedSeq : this.#appliedSeq;
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
