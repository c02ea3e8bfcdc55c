import { createSerial } from '../lib/scheduling.ts';
import { MiB } from '../lib/units.ts';
import type { ProjectionOptions, ProjectionState } from './projection-state.ts';
import type { LastRecord, Release } from './record-log.ts';

/**
 * Default growth of the log between snapshots, in characters. The growth must also reach the size of the last snapshot.
 */
const defaultGrowth = 4 * MiB;

const ignore = (): void => undefined;

/** State as of a seq, ready to be written. */
interface Snapshot {
  seq: number;
  /** Last event that the state includes. */
  last: LastRecord | undefined;
  save(): Iterable<readonly unknown[]>;
}

interface KeeperOptions<State extends ProjectionState> extends ProjectionOptions<State> {
  /** Returns the current state. */
  takeState(): Snapshot;
  isClosed(): boolean;
}

/**
 * Restores the state of a projection from its snapshot. Saves snapshots when the log has grown, when retention waits
 * for one, and on request.
 */
export class SnapshotKeeper<State extends ProjectionState> {
  readonly #options: KeeperOptions<State>;
  readonly #saveSerially = createSerial();
  #savedSeq = 0;
  /** Number of characters added to the log since the snapshot. */
  #growth = 0;
  /** True if the state was changed without an event and no snapshot contains that change yet. */
  #isChanged = false;
  #isSaving = false;
  /** Earliest time of the next snapshot for retention, on the clock of `performance.now()`. */
  #restedAt = 0;
  #unsaved: Error | undefined;
  #nextSave: Promise<void> | undefined;
  #resting: NodeJS.Timeout | undefined;
  /** Allows the log to delete the events that the snapshot contains. */
  release: Release = ignore;

  constructor(options: KeeperOptions<State>) {
    this.#options = options;
  }

  /** Seq of the last snapshot. */
  get savedSeq(): number {
    return this.#savedSeq;
  }

  /** Error of the last snapshot if it could not be written. */
  get unsaved(): Error | undefined {
    return this.#unsaved;
  }

  /**
   * Resolves to the state and seq of the snapshot. Without a snapshot, resolves to the state from which folding begins.
   */
  async restore(): Promise<{ state: State; seq: number }> {
    const { log, createState, snapshot, begin, isClosed, onReplaced, onDamage } = this.#options;
    let state = createState();
    let isRestored = false;
    let savedSeq: number | undefined;
    const restore = (entry: unknown): void => {
      isRestored = true;
      state.restore(entry);
    };
    let seq = await snapshot?.read(restore, onDamage);
    if (begin && (seq === undefined || !isRestored)) {
      state = createState();
      seq = await begin(state, isClosed);
      // The next startup begins at the same seq.
      savedSeq = await this.#saveBeginning(state, seq);
    }
    seq ??= 0;
    const { lastSeq = seq, assignedSeq } = log.state();
    const isOwnLog = assignedSeq !== undefined;
    // In a shared log, another instance may have saved events that this instance does not know.
    if (isOwnLog && onReplaced && lastSeq < seq) {
      await onReplaced(state);
      seq = lastSeq;
      savedSeq = await this.#saveBeginning(state, seq);
    }
    this.#savedSeq = savedSeq ?? seq;
    this.#growth = 0;
    return { state, seq };
  }

  /** Counts characters added to the log. */
  noteGrowth(length: number): void {
    this.#growth += length;
  }

  saveWhenDue(): void {
    const { snapshot, minGrowth = defaultGrowth, isClosed } = this.#options;
    const isDue = snapshot && this.#growth > Math.max(minGrowth, snapshot.size) && (snapshot.mayWrite?.() ?? true);
    if (isDue && !isClosed() && !this.#isSaving) this.save().catch(ignore);
  }

  /**
   * Saves a snapshot after `prepare`. Spends at most a tenth of the time on this, however often segments could be
   * deleted.
   */
  saveForRetention(prepare: () => Promise<void>): void {
    if (this.#isSaving || this.#options.isClosed()) return;
    const restMs = this.#restedAt - performance.now();
    if (restMs > 0) {
      this.#resting ??= setTimeout(() => {
        this.#resting = undefined;
        this.saveForRetention(prepare);
      }, restMs).unref();
      return;
    }
    prepare()
      .then(() => this.save())
      .catch(ignore);
  }

  /**
   * Saves a snapshot unless the last one is current. A snapshot that is being written may not contain the last event.
   * In that case, waits for it and writes another. Concurrent calls share that second snapshot.
   */
  save(): Promise<void> {
    this.#nextSave ??= this.#saveSerially(() => {
      this.#nextSave = undefined;
      return this.#save();
    });
    return this.#nextSave;
  }

  /** Saves a snapshot even if the last one has the current seq. */
  saveChanged(): Promise<void> {
    this.#isChanged = true;
    return this.save();
  }

  /** Resolves when no snapshot is being written. */
  async close(): Promise<void> {
    clearTimeout(this.#resting);
    await this.#saveSerially(async () => undefined);
  }

  async #save(): Promise<void> {
    const state = this.#options.takeState();
    if (!this.#options.snapshot || (state.seq <= this.#savedSeq && !this.#isChanged)) return;
    // After a failure, the next snapshot is due only when the log has grown again, and not with the next event.
    this.#growth = 0;
    this.#isChanged = false;
    await this.#write(state);
    this.#savedSeq = state.seq;
    this.release();
  }

  /**
   * Saves a state that no snapshot contains. Resolves to the seq of the snapshot, or to 0 if it cannot be written yet.
   */
  async #saveBeginning(state: State, seq: number): Promise<number> {
    try {
      await this.#write({ seq, last: undefined, save: () => state.save() });
      return seq;
    } catch {
      this.#isChanged = true;
      return 0;
    }
  }

  async #write({ seq, last, save }: Snapshot): Promise<void> {
    const { snapshot, onUnsaved } = this.#options;
    const startedAt = performance.now();
    this.#isSaving = true;
    try {
      await snapshot?.write(seq, save(), last);
      this.#unsaved = undefined;
    } catch (error) {
      if (!this.#unsaved) onUnsaved(error as Error);
      this.#unsaved = error as Error;
      throw error;
    } finally {
      this.#isSaving = false;
      const now = performance.now();
      this.#restedAt = now + 9 * (now - startedAt);
    }
  }
}
