import { createSerial } from '../lib/scheduling.ts';
import { MiB } from '../lib/units.ts';
import type { LastRecord, Release } from './record-log.ts';
import type { ProjectionSnapshot } from './snapshot.ts';

/** A snapshot is due when the log has grown by this many characters by default, and by the size of the last snapshot. */
const usualGrowth = 4 * MiB;

const ignore = (): void => undefined;

/** A state as of a seq. */
export interface TakenState {
  seq: number;
  /** The last event that led to it. */
  last: LastRecord | undefined;
  save(): Iterable<readonly unknown[]>;
}

interface KeeperParts {
  /** Undefined where the log alone has everything. */
  snapshot: ProjectionSnapshot | undefined;
  leastGrowth?: number | undefined;
  /** The state as it is now. */
  take(): TakenState;
  /** Gets the error when a snapshot cannot be written, once until one can. */
  onUnsaved(error: Error): void;
}

/** Stores snapshots of a state: when its log has grown, when retention waits for one, and when somebody asks for it. */
export class SnapshotKeeper {
  readonly #parts: KeeperParts;
  readonly #saveSerially = createSerial();
  #savedSeq = 0;
  /** Characters of the log after the snapshot. */
  #growth = 0;
  /** The state was changed without an event, and no snapshot was begun since. */
  #isChanged = false;
  #isSaving = false;
  /** When a snapshot may be stored for retention, in milliseconds of `performance.now()`. */
  #restedAt = 0;
  #unsaved: Error | undefined;
  #nextSave: Promise<void> | undefined;
  #resting: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** What the log does when it need not keep what is in a snapshot. */
  release: Release = ignore;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** The seq of the last snapshot. */
  get savedSeq(): number {
    return this.#savedSeq;
  }

  /** Why no snapshot can be written. */
  get unsaved(): Error | undefined {
    return this.#unsaved;
  }

  /** The state is that of the snapshot as of a seq. */
  noteRestored(seq: number): void {
    this.#savedSeq = seq;
    this.#growth = 0;
  }

  /** The log has so many characters more. */
  noteGrowth(length: number): void {
    this.#growth += length;
  }

  /** Stores where a state begins that no snapshot has; resolves to the seq of the snapshot, 0 if it cannot be written yet. */
  async saveBeginning(state: TakenState): Promise<number> {
    try {
      await this.#write(state);
      return state.seq;
    } catch {
      this.#isChanged = true;
      return 0;
    }
  }

  saveWhenDue(): void {
    const { snapshot, leastGrowth = usualGrowth } = this.#parts;
    const isDue = snapshot && this.#growth > Math.max(leastGrowth, snapshot.size) && (snapshot.mayWrite?.() ?? true);
    if (isDue && !this.#isClosed && !this.#isSaving) this.save().catch(ignore);
  }

  /** Stores a snapshot after `prepare`; takes at most a tenth of the time, however often files could be deleted. */
  saveForRetention(prepare: () => Promise<void>): void {
    if (this.#isSaving || this.#isClosed) return;
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
   * Stores a snapshot unless the last one is current. While another one is being stored, which may have begun before the last
   * event, this one waits for it; only one waits.
   */
  save(): Promise<void> {
    this.#nextSave ??= this.#saveSerially(() => {
      this.#nextSave = undefined;
      return this.#save();
    });
    return this.#nextSave;
  }

  /** Stores a snapshot in any case. */
  saveChanged(): Promise<void> {
    this.#isChanged = true;
    return this.save();
  }

  /** Stores nothing by itself any more. */
  stop(): void {
    this.#isClosed = true;
    clearTimeout(this.#resting);
  }

  /** Resolves when nothing is being stored. */
  async end(): Promise<void> {
    await this.#saveSerially(async () => undefined);
  }

  async #save(): Promise<void> {
    const state = this.#parts.take();
    if (!this.#parts.snapshot || (state.seq <= this.#savedSeq && !this.#isChanged)) return;
    // After a failure not with the next event, but when the log has grown by as much again.
    this.#growth = 0;
    this.#isChanged = false;
    await this.#write(state);
    this.#savedSeq = state.seq;
    this.release();
  }

  async #write({ seq, last, save }: TakenState): Promise<void> {
    const { snapshot, onUnsaved } = this.#parts;
    const begunAt = performance.now();
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
      this.#restedAt = now + 9 * (now - begunAt);
    }
  }
}
