import { createSerial } from '../lib/scheduling.ts';
import { Slice } from '../lib/slice.ts';
import { lengthOf } from './changes.ts';
import { EventAppender } from './event-appender.ts';
import { codeOf, JournalError } from './journal/errors.ts';
import type { LogRecord, StoredRecord } from './journal/line.ts';
import type { OutcomeOf, ProjectionOptions, ProjectionState } from './projection-state.ts';
import type { LastRecord } from './record-log.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';

/** Approximate overhead of a line in characters: id, seq and checksum. */
const lineLength = 100;

/** Milliseconds between attempts to read or append after a failure. */
const retryMs = 1000;

/** Maximum number of events that are folded, and passed to listeners, together. */
const foldedCount = 250;

const ignore = (): void => undefined;

/**
 * State in memory that follows a log. It is restored from a snapshot, then updated by folding the later events. Own
 * events are appended first, and folded when they are read back from the log like events of other instances, so that
 * all instances fold in the same order. If the database of a shared log has lost events that were already folded, the
 * state is restored from the snapshot.
 */
export class Projection<State extends ProjectionState> {
  readonly #options: ProjectionOptions<State>;
  readonly #appender: EventAppender<OutcomeOf<State>>;
  readonly #keeper: SnapshotKeeper<State>;
  readonly #readSerially = createSerial();
  readonly #listeners: ((outcomes: readonly OutcomeOf<State>[] | undefined) => void)[] = [];
  readonly #stopListening: (() => void)[];
  #state: State;
  /** Seq of the last folded event. Undefined until the snapshot has been restored. */
  #seq: number | undefined;
  /** Id and seq of the last folded event. After a restore, only the seq of the snapshot. */
  #last: LastRecord | undefined;
  /** Highest seq in the log at the most recent complete read. */
  #readSeq = 0;
  #hasRead = false;
  /** True if the state has been restored and listeners have not been called since. */
  #isReplaced = false;
  /** Error of the log or of the snapshot. Set while either cannot be read. */
  #failure: Error | undefined;
  #isClosed = false;
  #nextRead: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;

  private constructor(options: ProjectionOptions<State>) {
    const { log, createState, snapshot, empty = {}, onReplaced } = options;
    this.#options = options;
    this.#state = createState();
    this.#keeper = new SnapshotKeeper({
      ...options,
      takeState: () => {
        const state = this.#state;
        return { seq: this.seq, last: this.#last, save: () => state.save() };
      },
      isClosed: () => this.#isClosed,
    });
    this.#appender = new EventAppender({
      log,
      projection: this,
      empty,
      hasSnapshot: snapshot !== undefined,
      fillsLog: onReplaced === undefined,
    });
    this.#stopListening = [log.onStored(() => this.#readSoon()), log.onLost?.(() => this.#readSoon()) ?? ignore];
  }

  /** Opens the projection. While the database of its log is unavailable, the state is empty. */
  static async open<State extends ProjectionState>(options: ProjectionOptions<State>): Promise<Projection<State>> {
    const { log, snapshot, onGap, savesForRetention, isRestoredLater } = options;
    const projection = new Projection(options);
    try {
      if (isRestoredLater) projection.catchUp().catch(ignore);
      else if (log.state().lastSeq === undefined) projection.retryLater();
      else await projection.catchUp();
    } catch (error) {
      // Without `onGap`, reading is retried.
      if (onGap) {
        await projection.close();
        throw error;
      }
    }
    if (!snapshot) return projection;
    // The next startup would miss the events in files that were moved away.
    const stop = log.onReplaced?.(() => void projection.save().catch(ignore));
    if (stop) projection.#stopListening.push(stop);
    const from = (): number => {
      const keeper = projection.#keeper;
      // Events of other instances may still be waiting to be folded together.
      if (savesForRetention && projection.#hasRead) keeper.saveForRetention(() => projection.catchUp());
      return keeper.savedSeq;
    };
    projection.#keeper.release = await log.holdFrom(from, Number.POSITIVE_INFINITY, ignore);
    return projection;
  }

  /** Reads the state from a snapshot and a log. Writes and deletes nothing. */
  static async read<State extends ProjectionState>(
    options: Omit<ProjectionOptions<State>, 'onUnsaved'>,
  ): Promise<State> {
    const projection = new Projection({ ...options, onUnsaved: ignore });
    await projection.close();
    await projection.catchUp();
    return projection.state;
  }

  /** Current state. If the state is restored again, this becomes a different object. */
  get state(): State {
    return this.#state;
  }

  /** Seq of the last folded event. 0 before the first event. */
  get seq(): number {
    return this.#seq ?? 0;
  }

  /** True once the log has been read to its end. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** True if all events that are known to be stored have been folded. */
  get isCurrent(): boolean {
    const { lastSeq = 0 } = this.#options.log.state();
    return this.#hasRead && !this.#failure && lastSeq <= Math.max(this.#readSeq, this.seq);
  }

  /** True while events can be appended and read. */
  get isReady(): boolean {
    return this.#hasRead && !this.#failure && !this.#appender.hasDoubt && this.#options.log.state().healthy;
  }

  /** Error of the last snapshot if it could not be written. The log is kept in the meantime. */
  get unsaved(): Error | undefined {
    return this.#keeper.unsaved;
  }

  /**
   * Appends an event. Resolves to its outcome once it is stored and folded. Rejects with StoreUnavailable, or with a
   * JournalError like `RecordLog.append`. The event is then not folded, although a startup after a crash may find it in
   * the log. `length` is the approximate length of the event as JSON, in characters.
   */
  append(event: LogRecord, length = lengthOf(event)): Promise<OutcomeOf<State>> {
    if (this.#isClosed) return Promise.reject(createClosedError());
    return this.#appender.append(event, length);
  }

  /** Folds all currently stored events, including events of other instances. */
  catchUp(): Promise<void> {
    this.#nextRead ??= this.#readSerially(() => {
      this.#nextRead = undefined;
      return this.#read();
    });
    return this.#nextRead;
  }

  /**
   * Calls the listener with the outcomes of folded events, including events of other instances. Calls it with undefined
   * after the state has been restored. The listener must not throw.
   */
  onFolded(listener: (outcomes: readonly OutcomeOf<State>[] | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** Saves a snapshot unless the last one is current. A projection also saves on its own once its log has grown. */
  save(): Promise<void> {
    return this.#keeper.save();
  }

  /** Saves a snapshot of a state that changed without an event. */
  saveChanged(): Promise<void> {
    return this.#keeper.saveChanged();
  }

  /** Continues after `seq`. Called if the events up to `seq` are damaged, missing, or failed. */
  skipTo(seq: number): void {
    const next = this.seq + 1;
    if (seq < next) return;
    if (!this.#hasRead) this.#options.onGap?.(describeGap(next, seq));
    this.#seq = seq;
  }

  /** Retries reading or appending later. */
  retryLater(): void {
    if (this.#isClosed) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      if (this.#failure || !this.#hasRead) this.catchUp().catch(ignore);
      this.#appender.retry();
    }, retryMs).unref();
  }

  /** Waits for appends and snapshots that have already started. The log stays open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#retry);
    clearTimeout(this.#gathering);
    await this.#appender.whenIdle();
    await this.#readSerially(async () => undefined);
    await this.#keeper.close();
  }

  #readSoon(): void {
    const read = (): void => {
      this.#gathering = undefined;
      if (!this.#isClosed) this.catchUp().catch(ignore);
    };
    const { gatherMs } = this.#options;
    if (gatherMs === undefined) read();
    else this.#gathering ??= setTimeout(read, gatherMs).unref();
  }

  async #read(): Promise<void> {
    try {
      await this.#foldStored().catch((error: unknown) => {
        if (codeOf(error) !== 'gone') throw error;
        this.#seq = undefined;
        return this.#foldStored();
      });
      this.#failure = undefined;
      this.#hasRead = true;
    } catch (error) {
      this.#failure = error as Error;
      this.retryLater();
      throw error;
    }
    this.#keeper.saveWhenDue();
  }

  /** Folds events up to the current end of the log. */
  async #foldStored(): Promise<void> {
    const { log } = this.#options;
    const from = this.#seq ?? (await this.#restore());
    const { lastSeq = 0, assignedSeq } = log.state();
    const recent = log.recentAfter?.(from);
    if (recent && recent.length <= foldedCount) this.#foldAll(recent);
    else await this.#foldSlowly(recent ? [recent] : log.readAfter(from, this.#last));
    this.#readSeq = lastSeq;
    // In a shared log, another instance may still be assigned a seq that a failover has taken back.
    if (assignedSeq !== undefined) this.skipTo(lastSeq);
    if (!this.#isReplaced) return;
    this.#isReplaced = false;
    for (const listener of this.#listeners) listener(undefined);
  }

  async #restore(): Promise<number> {
    const { state, seq } = await this.#keeper.restore();
    this.#state = state;
    this.#isReplaced = true;
    this.#seq = seq;
    this.#last = { seq };
    return seq;
  }

  /** Folds events with pauses. Requests are answered during the pauses. */
  async #foldSlowly(pieces: AsyncIterable<StoredRecord[]> | (readonly StoredRecord[])[]): Promise<void> {
    const slice = new Slice();
    for await (const events of pieces) {
      for (let at = 0; at < events.length; at += foldedCount) {
        if (this.#isClosed && this.#options.isRestoredLater) throw createClosedError();
        this.#foldAll(events.slice(at, at + foldedCount));
        if (slice.isOver) await slice.giveWay();
      }
    }
  }

  #foldAll(events: readonly StoredRecord[]): void {
    const outcomes: OutcomeOf<State>[] = [];
    const ids: string[] = [];
    const together: StoredRecord[] = [];
    for (const event of events) {
      const { id, seq } = event;
      this.skipTo(seq - 1);
      this.#seq = seq;
      this.#last = { seq, id };
      this.#keeper.noteGrowth(lineLength + (this.#appender.lengthOf(id) ?? lengthOf(event)));
      if (this.#appender.isDoubtful(id)) continue;
      ids.push(id);
      if (this.#state.foldTogether) together.push(event);
      else outcomes.push(this.#state.fold(event) as OutcomeOf<State>);
    }
    const folded = together.length > 0 ? this.#state.foldTogether?.(together) : undefined;
    if (folded) outcomes.push(...(folded as OutcomeOf<State>[]));
    this.#appender.settle(ids, outcomes);
    if (outcomes.length > 0) for (const listener of this.#listeners) listener(outcomes);
  }
}

const createClosedError = (): JournalError => new JournalError('closed', 'the projection is closed');

const describeGap = (first: number, last: number): string =>
  last > first
    ? `records ${first} to ${last} of the log are missing or damaged`
    : `record ${first} of the log is missing or damaged`;
