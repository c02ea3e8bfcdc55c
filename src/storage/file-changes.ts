import { join } from 'node:path';
import { StoreUnavailable } from '../lib/expected-errors.ts';
import { MiB } from '../lib/units.ts';
import { Batcher, type Waiting } from './batcher.ts';
import type { Changes, EntriesState } from './changes.ts';
import { toNotStored } from './journal/errors.ts';
import type { Journal } from './journal/journal.ts';
import type { LogRecord, StoredRecord } from './journal/line.ts';
import { Projection } from './projection.ts';
import type { ProjectionState } from './projection-state.ts';
import { type OnDamage, refuseDamage } from './snapshot.ts';
import { createSnapshotFile } from './snapshot-file.ts';
import type { LogOptions } from './storage.ts';

/** Limits for changes that wait for the disk. A batch waits for more changes no longer than a sync takes. */
const limits = { maxCount: 10_000, maxSize: 16 * MiB, batchSize: MiB / 2, gatherMs: 1 };

/** Minimum growth of the log between snapshots. Changes are frequent, and writing the whole state is slow. */
const minGrowth = 16 * MiB;

/**
 * Options of the log. Closed segments are deleted once the snapshot contains their changes. The last record stays in
 * memory, so that a batch can be applied without reading the disk.
 */
const logOptions: LogOptions = {
  segmentBytes: 16 * MiB,
  retainBytes: 1,
  awaitsHold: true,
  maxLineBytes: 4 * MiB,
  recentCount: 1,
  logsRemoval: false,
};

interface FileOptions {
  directory: string;
  openLog(options: LogOptions): Promise<Journal>;
  /**
   * Receives the error of a failed snapshot, unless the previous snapshot also failed. The log is kept in the meantime.
   */
  report(error: Error): void;
  /** Receives the progress of reading the snapshot: bytes read, and bytes in total. */
  onRead?: (done: number, total: number) => void;
}

/**
 * Opens changes stored in files and applies them to an empty state. Throws a JournalError if the files cannot be
 * opened. Its code is `damaged` if a change is missing.
 */
export const openFileChanges = async <Change, Result>(
  { directory, openLog, report, onRead }: FileOptions,
  name: string,
  state: EntriesState<Change, Result>,
  onLost: () => void,
): Promise<Changes<Change, Result>> => {
  const toChangeJson = (change: unknown): string => state.toJson(change as Change);
  const toJson = ({ changes }: LogRecord): string =>
    `{"changes":[${(changes as Batch<Change>).changes.map(toChangeJson).join(',')}]}`;
  const log = await openLog({ ...logOptions, toJson });
  try {
    const snapshot = createSnapshotFile(toPath(directory, name), { toJson: toChangeJson, onRead });
    const reading = { isWhole: () => true, onDamage: refuseDamage };
    const projection = await Projection.open({
      log,
      snapshot,
      createState: () => new BatchState(state, `${name}.state`, reading),
      empty: { changes: new Batch([]) },
      minGrowth,
      onDamage: refuseDamage,
      onGap: refuseDamage,
      onUnsaved: report,
    });
    return new FileChanges({ log, projection, state, onLost });
  } catch (error) {
    await log.close();
    throw error;
  }
};

/** Applies the readable changes in files to an empty state. Writes nothing. */
export const readFileChanges = async <Change>(
  { directory, openLog }: Pick<FileOptions, 'directory' | 'openLog'>,
  name: string,
  state: EntriesState<Change, unknown>,
  reading: Reading<Change>,
): Promise<void> => {
  const { onDamage } = reading;
  const log = await openLog(logOptions);
  try {
    const path = toPath(directory, name);
    const snapshot = createSnapshotFile(path);
    const createState = () => new BatchState(state, path, reading);
    await Projection.read({ log, snapshot, createState, onDamage, onGap: onDamage });
  } finally {
    await log.close();
  }
};

const toPath = (directory: string, name: string): string => join(directory, `${name}.state`);

/** Changes of one record. A record that was read from disk has an array of JSON values instead. */
class Batch<Change> {
  readonly changes: readonly Change[];

  constructor(changes: readonly Change[]) {
    this.changes = changes;
  }
}

interface Reading<Change> {
  /** True for an undamaged change from a snapshot. */
  isWhole(change: Change): boolean;
  onDamage: OnDamage;
}

const unreadable = 'cannot be read by this version of signalbox';

/** State whose events are batches of changes. */
class BatchState<Change, Result> implements ProjectionState<Result[]> {
  readonly #state: EntriesState<Change, Result>;
  readonly #file: string;
  readonly #reading: Reading<Change>;

  /** Creates the state. `file` is the name of the snapshot in messages. */
  constructor(state: EntriesState<Change, Result>, file: string, reading: Reading<Change>) {
    this.#state = state;
    this.#file = file;
    this.#reading = reading;
  }

  fold({ seq, changes }: StoredRecord): Result[] {
    if (changes instanceof Batch) return changes.changes.map((change) => this.#state.apply(change));
    const results: Result[] = [];
    const values = Array.isArray(changes) ? changes : [undefined];
    const areApplied = values.map((value) => this.#tryApply(value, (result) => results.push(result)));
    if (!areApplied.every(Boolean)) this.#reading.onDamage(`record ${seq} of the log ${unreadable}`);
    return results;
  }

  save(): Iterable<readonly Change[]> {
    return this.#state.changes();
  }

  restore(entry: unknown): void {
    const { isWhole, onDamage } = this.#reading;
    if (!this.#tryApply(entry, () => undefined, isWhole))
      onDamage(`a change in ${this.#file} is damaged or ${unreadable}`);
  }

  /** Applies a stored value. Returns false if this version cannot apply it. */
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
  projection: Projection<BatchState<Change, Result>>;
  state: EntriesState<Change, Result>;
  /** Called if changes that have been written will not be applied. */
  onLost(): void;
}

/**
 * Changes as events of a projection. All waiting changes form one record. The log contains either the whole record or
 * no part of it. Changes that arrive in the meantime form the next record. A change may depend on earlier ones, so all
 * waiting changes fail together, and new changes are refused until the projection can store again.
 */
class FileChanges<Change, Result> implements Changes<Change, Result> {
  readonly #parts: Parts<Change, Result>;
  readonly #batcher: Batcher<Change, Result>;
  /** Error of the last batch. Set until the projection can store again. */
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
