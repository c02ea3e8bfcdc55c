import { join } from 'node:path';
import { StoreUnavailable } from '../lib/expected-errors.ts';
import { Batcher, type Waiting } from './batcher.ts';
import type { Changes, State } from './changes.ts';
import { toNotStored } from './journal/errors.ts';
import type { Journal } from './journal/journal.ts';
import type { LogRecord, StoredRecord } from './journal/line.ts';
import { Projection } from './projection.ts';
import type { ProjectionState } from './projection-state.ts';
import { type OnDamage, refuseDamage } from './snapshot.ts';
import { createSnapshotFile } from './snapshot-file.ts';
import type { LogOptions } from './storage.ts';

/**
 * How many changes may wait for the disk, and characters of them, also of those that are written as one record. A batch waits
 * at most about as long as a sync takes for others.
 */
const limits = { maxCount: 10_000, maxSize: 16 * 1024 * 1024, batchSize: 512 * 1024, gatherMs: 1 };

const MiB = 1024 * 1024;

/** Changes are many, and writing all that they have led to takes time. */
const leastGrowth = 16 * MiB;

/**
 * Closed segments are deleted as soon as the snapshot does not need them. The last record is kept in memory, so that a batch
 * that was just stored is applied without reading the disk.
 */
const options: LogOptions = {
  segmentBytes: 16 * MiB,
  retainBytes: 1,
  awaitsHold: true,
  maxLineBytes: 4 * MiB,
  recentCount: 1,
  logsRemoval: false,
};

interface Surroundings {
  directory: string;
  openJournal(options: LogOptions): Promise<Journal>;
  /** Gets the error when the state could not be written, once until it can be; the log is kept then. */
  report(error: Error): void;
  /** How many bytes of so many of the snapshot are read. */
  onRead?: (done: number, total: number) => void;
}

/**
 * Opens the changes that are kept in files of a directory, and applies them to the state, which must be empty. Throws a
 * JournalError, `damaged` where a change is missing.
 */
export const openKeptChanges = async <Change, Result>(
  { directory, openJournal, report, onRead }: Surroundings,
  name: string,
  state: State<Change, Result>,
  onLost: () => void,
): Promise<Changes<Change, Result>> => {
  const toChangeJson = (change: unknown): string => state.toJson(change as Change);
  const toJson = ({ changes }: LogRecord): string =>
    `{"changes":[${(changes as Batch<Change>).changes.map(toChangeJson).join(',')}]}`;
  const log = await openJournal({ ...options, toJson });
  try {
    const snapshot = createSnapshotFile(toPath(directory, name), { toJson: toChangeJson, onRead });
    // The checksum of the file is known only at its end.
    const kept = new KeptState(state, `${name}.state`, { isWhole: () => true, onDamage: refuseDamage });
    const projection = await Projection.open({
      log,
      snapshot,
      createState: () => kept,
      empty: { changes: new Batch([]) },
      leastGrowth,
      onDamage: refuseDamage,
      onGap: refuseDamage,
      onUnsaved: report,
    });
    return new KeptChanges({ log, projection, state, onLost });
  } catch (error) {
    await log.close();
    throw error;
  }
};

/**
 * Applies the changes that are kept in files of a directory to the state, which must be empty, as far as they can be read;
 * `onDamage` gets what is missing. Changes of the snapshot for which `isWhole` returns false are left out.
 */
export const readKeptChanges = async <Change>(
  { directory, openJournal }: Pick<Surroundings, 'directory' | 'openJournal'>,
  name: string,
  state: State<Change, unknown>,
  { isWhole, onDamage }: Reading<Change>,
): Promise<void> => {
  const log = await openJournal(options);
  try {
    const path = toPath(directory, name);
    const kept = new KeptState(state, path, { isWhole, onDamage });
    const snapshot = createSnapshotFile(path);
    await Projection.read({ log, snapshot, createState: () => kept, onDamage, onGap: onDamage });
  } finally {
    await log.close();
  }
};

const toPath = (directory: string, name: string): string => join(directory, `${name}.state`);

/** Changes that become one record. A record from the disk has their JSON instead. */
class Batch<Change> {
  readonly changes: readonly Change[];

  constructor(changes: readonly Change[]) {
    this.changes = changes;
  }
}

interface Reading<Change> {
  /** Whether a change of the snapshot counts. */
  isWhole(change: Change): boolean;
  onDamage: OnDamage;
}

const unknown = 'cannot be read by this version of signalbox';

/** A state whose events are batches of changes. */
class KeptState<Change, Result> implements ProjectionState<Result[]> {
  readonly #state: State<Change, Result>;
  readonly #file: string;
  readonly #reading: Reading<Change>;

  /** `file` is how messages call the snapshot. */
  constructor(state: State<Change, Result>, file: string, reading: Reading<Change>) {
    this.#state = state;
    this.#file = file;
    this.#reading = reading;
  }

  fold({ seq, changes }: StoredRecord): Result[] {
    if (changes instanceof Batch) return changes.changes.map((change) => this.#state.apply(change));
    const results: Result[] = [];
    const values = Array.isArray(changes) ? changes : [undefined];
    const isApplied = values.map((value) => this.#tryApply(value, (result) => results.push(result)));
    if (!isApplied.every(Boolean)) this.#reading.onDamage(`record ${seq} of the log ${unknown}`);
    return results;
  }

  save(): Iterable<readonly Change[]> {
    return this.#state.changes();
  }

  restore(entry: unknown): void {
    const { isWhole, onDamage } = this.#reading;
    if (!this.#tryApply(entry, () => undefined, isWhole))
      onDamage(`a change in ${this.#file} is damaged or ${unknown}`);
  }

  /** Applies what was stored, unless this version cannot. */
  #tryApply(
    value: unknown,
    onApplied: (result: Result) => void,
    isWhole: (change: Change) => boolean = () => true,
  ): boolean {
    try {
      const change = this.#state.toChange(value);
      if (change === undefined || !isWhole(change)) return false;
      onApplied(this.#state.apply(change));
      return true;
    } catch {
      return false;
    }
  }
}

interface Parts<Change, Result> {
  log: Journal;
  projection: Projection<KeptState<Change, Result>>;
  state: State<Change, Result>;
  /** Called when changes that were written will not be applied. */
  onLost(): void;
}

/**
 * Changes as events of a projection. All that wait become one record, which is in the log whole or not at all; those that
 * arrive meanwhile form the next one. Since each may depend on those before it, all that wait fail with the first one, and
 * more are refused until the projection can store again.
 */
class KeptChanges<Change, Result> implements Changes<Change, Result> {
  readonly #parts: Parts<Change, Result>;
  readonly #batcher: Batcher<Change, Result>;
  /** Why the last batch failed, until the projection can store again. */
  #failure: Error | undefined;
  #isClosed = false;

  constructor(parts: Parts<Change, Result>) {
    this.#parts = parts;
    this.#batcher = new Batcher(limits, (batch) => this.#commit(batch));
  }

  write(change: Change): Promise<Result> {
    if (this.#failure && this.#parts.projection.isReady) this.#failure = undefined;
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
    return this.#parts.projection.isReady;
  }

  save(): Promise<void> {
    return this.#parts.projection.saveChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#batcher.running;
    await this.#parts.projection.close();
    await this.#parts.log.close();
  }

  async #commit(batch: readonly Waiting<Change, Result>[]): Promise<void> {
    const changes = new Batch(batch.map(({ item }) => item));
    const length = batch.reduce((sum, { size }) => sum + size, 0);
    try {
      const results = await this.#parts.projection.append({ changes }, length);
      for (const [index, waiting] of batch.entries()) waiting.resolve(results[index] as Result);
    } catch (error) {
      this.#fail(error as Error, batch);
    }
  }

  #fail(error: Error, batch: readonly Waiting<Change, Result>[]): void {
    this.#failure = error;
    this.#parts.onLost();
    const refusal = toNotStored('Changes', error);
    for (const waiting of batch) waiting.reject(refusal);
    this.#batcher.rejectQueued(refusal);
  }
}
