import { StoreUnavailable } from '../lib/expected-errors.ts';
import { createSerial } from '../lib/scheduling.ts';
import { Slice } from '../lib/slice.ts';
import { Batcher, type Waiting } from './batcher.ts';
import { lengthOf } from './changes.ts';
import { DoubtfulEvents } from './doubtful-events.ts';
import { codeOf, JournalError } from './journal/errors.ts';
import { createId, type LogRecord, type StoredRecord } from './journal/line.ts';
import type { FollowedLog, LastRecord } from './record-log.ts';
import type { OnDamage, ProjectionSnapshot } from './snapshot.ts';
import { SnapshotKeeper, type TakenState } from './snapshot-keeper.ts';

const MiB = 1024 * 1024;

/** About the characters of a line besides its event: id, seq and checksum. */
const lineLength = 100;

/** Milliseconds between attempts to read or store again after a failure. */
const retryMs = 1000;

/** Events that wait for the log; the journal writes a batch of them at once. */
const limits = { maxCount: 10_000, maxSize: 16 * MiB, batchSize: MiB / 2, batchCount: 1000, gatherMs: 1 };

/** Filling records that are appended together. */
const fillCount = 10_000;

/** Events that are folded, and told listeners, together. */
const foldedCount = 250;

const ignore = (): void => undefined;

/** A state in memory that events lead to. A user of a projection writes this and nothing else. */
export interface ProjectionState<Outcome = unknown> {
  /**
   * Folds the next event; returns its outcome for the one who appended it. The state and the event alone decide, neither a
   * clock nor chance, so every replay and every instance gets the same. An event of an unknown kind changes nothing.
   */
  fold(event: StoredRecord): Outcome;
  /** The same for several events where that is quicker, with an outcome for each. */
  foldTogether?(events: readonly StoredRecord[]): Outcome[];
  /**
   * Entries that lead to the state as of this call, some at a time. They are written while more events are folded, and may
   * include those where folding them again leads to the same state.
   */
  save(): Iterable<readonly unknown[]>;
  /** Takes over one entry of a snapshot; the state is empty before the first. */
  restore(entry: unknown): void;
}

interface ProjectionParts<State extends ProjectionState> {
  /** In files, `awaitsHold` keeps them until they are in a snapshot. */
  log: FollowedLog;
  createState: () => State;
  /**
   * Resolves to the seq after which to begin where no snapshot says it: its state is stored at once. It rejects once the projection
   * is closed. By default, at the beginning of the log.
   */
  begin?: (state: State, isClosed: () => boolean) => Promise<number>;
  /** The log deletes files for reasons of its own, so a snapshot is stored as soon as they wait for it. */
  savesForRetention?: boolean;
  /**
   * Called where the log ends before the snapshot: somebody has replaced it, and the state goes on at its end, as this leaves it.
   * By default empty records are appended, so that no seq of the snapshot comes again.
   */
  onReplaced?: (state: State) => Promise<void> | void;
  /** Milliseconds for which what others append is collected, so that much is folded together. Own events are folded at once. */
  gatherMs?: number;
  /** `open` does not wait until the log is read. */
  isRestoredLater?: boolean;
  /** Undefined where the log alone has everything. */
  snapshot?: ProjectionSnapshot | undefined;
  /** Characters by which the log grows at least until a snapshot is due. */
  leastGrowth?: number;
  /** A record that changes nothing; by default one without members. */
  empty?: LogRecord;
  /** Gets each damage of the snapshot; what it throws ends the reading. The log reports its own. */
  onDamage: OnDamage;
  /**
   * For events of which each depends on those before it: gets what is missing in the log when it is opened. What this or
   * `onDamage` throws rejects `open`, as does a log that cannot be read.
   */
  onGap?: OnDamage;
  /** Gets the error when a snapshot cannot be written, once until one can; the log is kept meanwhile. */
  onUnsaved(error: Error): void;
}

type OutcomeOf<State extends ProjectionState> = ReturnType<State['fold']>;

/** An event that is being appended, with its outcome once it is folded. */
interface Sent<Outcome> {
  id: string;
  waiting: Waiting<LogRecord, Outcome>;
  folded?: { outcome: Outcome };
}

/**
 * A state in memory that follows a log. It is restored from the snapshot and the events after it. An event is appended first,
 * then folded when it is read from the log, like the events of other instances, so all of them fold the same order.
 *
 * A failed append leaves doubt: the event may be in the log or not. This process does not count it, and appends no more until
 * a snapshot without it is stored as of its seq, so no replay counts it either. A log that instances share has no such doubt:
 * whatever it has, counts. Where its database has lost events that are folded, the state is restored from the snapshot.
 */
export class Projection<State extends ProjectionState> {
  readonly #parts: ProjectionParts<State>;
  readonly #batcher: Batcher<LogRecord, OutcomeOf<State>>;
  readonly #readSerially = createSerial();
  readonly #keeper: SnapshotKeeper;
  readonly #listeners: ((outcomes: readonly OutcomeOf<State>[] | undefined) => void)[] = [];
  #state: State;
  /** The last event that is folded; undefined until the snapshot is restored. */
  #seq: number | undefined;
  /** The same as far as it is known by its id, or the seq of the snapshot. */
  #last: LastRecord | undefined;
  /** What was stored up to this was read, or a database has lost it. */
  #readSeq = 0;
  /** By id. */
  readonly #sent = new Map<string, Sent<OutcomeOf<State>>>();
  readonly #doubtful = new DoubtfulEvents();
  /** No seq of the snapshot can come again. */
  #isFilled = false;
  #hasRead = false;
  /** Listeners do not know yet that the state is another one. */
  #isReplaced = false;
  /** Why the log cannot be read, or the snapshot. */
  #failure: Error | undefined;
  #isClosed = false;
  #nextRead: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  readonly #stopListening: (() => void)[];

  private constructor(parts: ProjectionParts<State>) {
    this.#parts = parts;
    this.#state = parts.createState();
    const { snapshot, leastGrowth, onUnsaved } = parts;
    this.#keeper = new SnapshotKeeper({ snapshot, leastGrowth, onUnsaved, take: () => this.#take() });
    this.#batcher = new Batcher(limits, (batch) => this.#commit(batch));
    const { log } = parts;
    this.#stopListening = [log.onStored(() => this.#readSoon()), log.onLost?.(() => this.#readSoon()) ?? ignore];
  }

  /** Without its database, the state is empty until the database can be used. */
  static async open<State extends ProjectionState>(parts: ProjectionParts<State>): Promise<Projection<State>> {
    const { log, snapshot, onGap, savesForRetention, isRestoredLater } = parts;
    const projection = new Projection(parts);
    try {
      if (isRestoredLater) projection.#readOn().catch(ignore);
      else if (log.state().lastSeq === undefined) projection.#tryLater();
      else await projection.#readOn();
    } catch (error) {
      // Otherwise it is tried again.
      if (onGap) {
        await projection.close();
        throw error;
      }
    }
    const from = (): number => {
      const keeper = projection.#keeper;
      // Events of others may still be gathered.
      if (savesForRetention && projection.#hasRead) keeper.saveForRetention(() => projection.#readOn());
      return keeper.savedSeq;
    };
    if (!snapshot) return projection;
    // The next start would miss the events of files that were moved away.
    const stop = log.onMoved?.(() => void projection.save().catch(ignore));
    if (stop) projection.#stopListening.push(stop);
    projection.#keeper.release = await log.holdFrom(from, Number.POSITIVE_INFINITY, ignore);
    return projection;
  }

  /** The state that the snapshot and the log lead to, of which nothing is stored or deleted. */
  static async read<State extends ProjectionState>(parts: Omit<ProjectionParts<State>, 'onUnsaved'>): Promise<State> {
    const projection = new Projection({ ...parts, onUnsaved: ignore });
    await projection.close();
    await projection.#readOn();
    return projection.state;
  }

  /** Replaced by another one where a database is reached only after `open`. */
  get state(): State {
    return this.#state;
  }

  /** Whether the log was read to its end once. */
  get hasRead(): boolean {
    return this.#hasRead;
  }

  /** Whether everything is folded that this process knows to be stored. */
  get isCurrent(): boolean {
    const { lastSeq = 0 } = this.#parts.log.state();
    return this.#hasRead && !this.#failure && lastSeq <= Math.max(this.#readSeq, this.seq);
  }

  /** Why no snapshot can be written, so that the log is kept. */
  get unsaved(): Error | undefined {
    return this.#keeper.unsaved;
  }

  /** Whether events can be stored and read at the moment. */
  get isReady(): boolean {
    return this.#hasRead && !this.#failure && !this.#doubtful.areThere && this.#parts.log.state().healthy;
  }

  /**
   * Resolves to the outcome when the event is stored and folded. Rejects with StoreUnavailable or a JournalError as
   * `RecordLog.append`; then the event was not folded, although a start may find it in the log after a crash. `length` is
   * about the characters of the event as JSON.
   */
  append(event: LogRecord, length = lengthOf(event)): Promise<OutcomeOf<State>> {
    if (this.#isClosed) return Promise.reject(new JournalError('closed', 'the projection is closed'));
    const added = this.#batcher.add(event, length);
    return added?.promise ?? Promise.reject(new JournalError('queue-full', 'too many events wait for the log'));
  }

  /** The last event that is folded; 0 before the first. */
  get seq(): number {
    return this.#seq ?? 0;
  }

  /** Folds everything that is stored now, also by other instances. */
  catchUp(): Promise<void> {
    return this.#readOn();
  }

  /**
   * Calls the listener, which must not throw, with the outcomes of events after they are folded, also of other instances; with
   * undefined after the state was replaced by that of a snapshot.
   */
  onFolded(listener: (outcomes: readonly OutcomeOf<State>[] | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** Stores a snapshot unless the last one is current. Called by itself when the log has grown. */
  save(): Promise<void> {
    return this.#keeper.save();
  }

  /** Stores a snapshot in any case, because the state was changed without an event. */
  saveChanged(): Promise<void> {
    return this.#keeper.saveChanged();
  }

  /** Stores what waits. The log stays open. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stopListening) stop();
    clearTimeout(this.#retry);
    clearTimeout(this.#gathering);
    this.#keeper.stop();
    await this.#batcher.running;
    await this.#readSerially(async () => undefined);
    await this.#keeper.end();
  }

  /** Reads and stores in a while what could not be. */
  #tryLater(): void {
    if (this.#isClosed) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      if (this.#failure || !this.#hasRead) this.#readOn().catch(ignore);
      if (this.#doubtful.areThere) this.#batcher.start();
    }, retryMs).unref();
  }

  async #commit(batch: readonly Waiting<LogRecord, OutcomeOf<State>>[]): Promise<void> {
    try {
      await this.#prepare();
      const sent = batch.map((waiting): Sent<OutcomeOf<State>> => ({ id: createId(), waiting }));
      for (const each of sent) this.#sent.set(each.id, each);
      const areStored = await Promise.all(sent.map((each) => this.#store(each)));
      if (sent.some(({ folded }, index) => areStored[index] && !folded)) await this.#readOn().catch(ignore);
      // Events of the batch that are stored may depend on those that failed.
      if (this.#doubtful.areThere) await this.#prepare();
      for (const { waiting, folded } of sent) {
        if (folded) waiting.resolve(folded.outcome);
        else waiting.reject(new StoreUnavailable('The change was stored, but cannot be read at the moment'));
      }
    } finally {
      this.#sent.clear();
      if (this.#doubtful.areThere) this.#tryLater();
    }
  }

  async #store({ id, waiting }: Sent<OutcomeOf<State>>): Promise<boolean> {
    const { log, snapshot } = this.#parts;
    try {
      await log.appendAll([waiting.item], [id]);
      return true;
    } catch (error) {
      if (snapshot) this.#doubtful.note(id, error, log.state());
      waiting.reject(error as Error);
      return false;
    }
  }

  /** Makes sure that the next event gets a seq which no snapshot has, and follows no event that is in doubt. */
  async #prepare(): Promise<void> {
    const { log, empty = {} } = this.#parts;
    if (!this.#hasRead) await this.#readOn();
    const isOwnLog = log.state().assignedSeq !== undefined;
    if (isOwnLog && !this.#isFilled && !this.#parts.onReplaced) {
      await fillUp(log, this.seq, empty);
      this.#isFilled = true;
    }
    if (!this.#doubtful.areThere) return;
    const { healthy, failure } = log.state();
    if (!healthy) throw toUnavailable(failure);
    await this.#readOn();
    this.#passTo(this.#doubtful.seq);
    await this.save().catch((error: Error) => {
      throw toUnavailable(error);
    });
    this.#doubtful.clear();
  }

  #readSoon(): void {
    const read = (): void => {
      this.#gathering = undefined;
      if (!this.#isClosed) this.#readOn().catch(ignore);
    };
    const { gatherMs } = this.#parts;
    if (gatherMs === undefined) read();
    else this.#gathering ??= setTimeout(read, gatherMs).unref();
  }

  /** Folds up to the end of the log, as it is when the reading begins. */
  #readOn(): Promise<void> {
    this.#nextRead ??= this.#readSerially(() => {
      this.#nextRead = undefined;
      return this.#read();
    });
    return this.#nextRead;
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
      this.#tryLater();
      throw error;
    }
    this.#keeper.saveWhenDue();
  }

  async #foldStored(): Promise<void> {
    const { log } = this.#parts;
    const from = this.#seq ?? (await this.#restore());
    const { lastSeq = 0, assignedSeq } = log.state();
    const recent = log.recentAfter?.(from);
    if (recent && recent.length <= foldedCount) this.#foldAll(recent);
    else await this.#foldSlowly(recent ? [recent] : log.readAfter(from, this.#last));
    this.#readSeq = lastSeq;
    // Where instances share the log, others may still get a seq that a failover has taken back.
    if (assignedSeq !== undefined) this.#passTo(lastSeq);
    if (!this.#isReplaced) return;
    this.#isReplaced = false;
    for (const listener of this.#listeners) listener(undefined);
  }

  /** Lets requests be answered in between. */
  async #foldSlowly(pieces: AsyncIterable<StoredRecord[]> | (readonly StoredRecord[])[]): Promise<void> {
    const slice = new Slice();
    for await (const events of pieces) {
      for (let at = 0; at < events.length; at += foldedCount) {
        if (this.#isClosed && this.#parts.isRestoredLater) throw new JournalError('closed', 'the projection is closed');
        this.#foldAll(events.slice(at, at + foldedCount));
        if (slice.isOver) await slice.giveWay();
      }
    }
  }

  async #restore(): Promise<number> {
    const { log, createState, snapshot, begin, onReplaced, onDamage } = this.#parts;
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
      seq = await begin(state, () => this.#isClosed);
      // So that the next start begins at the same place.
      savedSeq = await this.#keeper.saveBeginning({ seq, last: undefined, save: () => state.save() });
    }
    seq ??= 0;
    const { lastSeq = seq, assignedSeq } = log.state();
    const isOwnLog = assignedSeq !== undefined;
    // Another instance may have stored a snapshot of records that this one does not know yet.
    if (isOwnLog && onReplaced && lastSeq < seq) {
      await onReplaced(state);
      seq = lastSeq;
      savedSeq = await this.#keeper.saveBeginning({ seq, last: undefined, save: () => state.save() });
    }
    this.#state = state;
    this.#isReplaced = true;
    this.#seq = seq;
    this.#last = { seq };
    this.#keeper.noteRestored(savedSeq ?? seq);
    return seq;
  }

  #foldAll(events: readonly StoredRecord[]): void {
    const outcomes: OutcomeOf<State>[] = [];
    const ids: string[] = [];
    const together: StoredRecord[] = [];
    for (const event of events) {
      const { id, seq } = event;
      const own = this.#sent.get(id);
      this.#passTo(seq - 1);
      this.#seq = seq;
      this.#last = { seq, id };
      this.#keeper.noteGrowth(lineLength + (own?.waiting.size ?? lengthOf(event)));
      if (this.#doubtful.has(id)) continue;
      ids.push(id);
      if (this.#state.foldTogether) together.push(event);
      else outcomes.push(this.#state.fold(event) as OutcomeOf<State>);
    }
    const folded = together.length > 0 ? this.#state.foldTogether?.(together) : undefined;
    if (folded) outcomes.push(...(folded as OutcomeOf<State>[]));
    for (const [index, id] of this.#sent.size > 0 ? ids.entries() : []) {
      const own = this.#sent.get(id);
      if (own) own.folded = { outcome: outcomes[index] as OutcomeOf<State> };
    }
    if (outcomes.length > 0) for (const listener of this.#listeners) listener(outcomes);
  }

  /** Goes on after this seq: the events up to it are damaged, missing, or failed. */
  #passTo(seq: number): void {
    const next = (this.#seq ?? 0) + 1;
    if (seq < next) return;
    if (!this.#hasRead) this.#parts.onGap?.(describeGap(next, seq));
    this.#seq = seq;
  }

  #take(): TakenState {
    const state = this.#state;
    return { seq: this.seq, last: this.#last, save: () => state.save() };
  }
}

/** Appends empty records up to the seq of a snapshot whose log is lost, so no later event gets a seq that the snapshot has. */
const fillUp = async (log: Pick<FollowedLog, 'state' | 'appendAll'>, seq: number, empty: LogRecord): Promise<void> => {
  for (let missing = seq - (log.state().lastSeq ?? 0); missing > 0; missing -= fillCount) {
    await log.appendAll(Array.from({ length: Math.min(missing, fillCount) }, () => empty));
  }
};

const toUnavailable = (cause: Error | undefined): JournalError =>
  new JournalError('unavailable', 'an event that failed is still in doubt', { cause });

const describeGap = (first: number, last: number): string =>
  last > first
    ? `records ${first} to ${last} of the log are missing or damaged`
    : `record ${first} of the log is missing or damaged`;
