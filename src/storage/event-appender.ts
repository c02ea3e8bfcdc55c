import { StoreUnavailable } from '../lib/expected-errors.ts';
import { MiB } from '../lib/units.ts';
import { Batcher, type Waiting } from './batcher.ts';
import { codeOf, JournalError } from './journal/errors.ts';
import { createId, type LogRecord } from './journal/line.ts';
import type { FollowedLog } from './record-log.ts';

/** Limits for events that wait for the log. The journal writes all events of a batch together. */
const limits = { maxCount: 10_000, maxSize: 16 * MiB, batchSize: MiB / 2, batchCount: 1000, gatherMs: 1 };

/** Number of empty records per append. */
const fillCount = 10_000;

/** Projection that the appender writes events for. */
interface AppendingProjection {
  /** Seq of the last folded event. */
  readonly seq: number;
  /** True once the log has been read to its end. */
  readonly hasRead: boolean;
  catchUp(): Promise<void>;
  /** Continues after a seq. Events up to that seq do not count. */
  skipTo(seq: number): void;
  save(): Promise<void>;
  /** Schedules a call of the appender's `retry`. */
  retryLater(): void;
}

interface AppenderOptions {
  log: Pick<FollowedLog, 'appendAll' | 'state'>;
  projection: AppendingProjection;
  /** Record that has no effect. */
  empty: LogRecord;
  /** True if the projection has a snapshot. A snapshot can exclude events whose append failed. */
  hasSnapshot: boolean;
  /** True if empty records fill the gap when the log ends before the snapshot. */
  fillsLog: boolean;
}

/** Event that is being appended. It gets its outcome when it is folded. */
interface PendingEvent<Outcome> {
  id: string;
  waiting: Waiting<LogRecord, Outcome>;
  folded?: { outcome: Outcome };
}

/**
 * Appends the events of a projection to its log. Each event resolves to its outcome once the projection has read and
 * folded it. After a failed append, it is in doubt whether the log contains the event, so the projection leaves it out.
 * Nothing more is appended until a snapshot that excludes the event has been saved, because otherwise a replay could
 * fold the event. A log shared by instances leaves no doubt: every event in it counts.
 */
export class EventAppender<Outcome> {
  readonly #options: AppenderOptions;
  readonly #batcher: Batcher<LogRecord, Outcome>;
  /** Events of the current batch, by id. */
  readonly #pending = new Map<string, PendingEvent<Outcome>>();
  /** Ids of events whose append failed. The log may contain them. */
  readonly #doubtfulIds = new Set<string>();
  /** Highest seq that an event in doubt can have. */
  #doubtfulSeq = 0;
  /** True if no seq covered by the snapshot can be assigned again. */
  #isFilled = false;

  constructor(options: AppenderOptions) {
    this.#options = options;
    this.#batcher = new Batcher(limits, (batch) => this.#commit(batch));
  }

  /** True while events are in doubt. */
  get hasDoubt(): boolean {
    return this.#doubtfulIds.size > 0;
  }

  /** True if appending the event failed. */
  isDoubtful(id: string): boolean {
    return this.#doubtfulIds.has(id);
  }

  /** Returns the length of a pending event in characters. Undefined for any other event. */
  lengthOf(id: string): number | undefined {
    return this.#pending.get(id)?.waiting.size;
  }

  append(event: LogRecord, length: number): Promise<Outcome> {
    const added = this.#batcher.add(event, length);
    return added?.promise ?? Promise.reject(new JournalError('queue-full', 'too many events are waiting for the log'));
  }

  /** Receives the outcomes of folded events, in the order of the ids. */
  settle(ids: readonly string[], outcomes: readonly Outcome[]): void {
    if (this.#pending.size === 0) return;
    for (const [index, id] of ids.entries()) {
      const pending = this.#pending.get(id);
      if (pending) pending.folded = { outcome: outcomes[index] as Outcome };
    }
  }

  /** Tries again to resolve the doubt. */
  retry(): void {
    if (this.hasDoubt) this.#batcher.start();
  }

  /** Resolves when no events are waiting. */
  async whenIdle(): Promise<void> {
    await this.#batcher.running;
  }

  async #commit(batch: readonly Waiting<LogRecord, Outcome>[]): Promise<void> {
    const { projection } = this.#options;
    try {
      await this.#prepare();
      const events = batch.map((waiting): PendingEvent<Outcome> => ({ id: createId(), waiting }));
      for (const event of events) this.#pending.set(event.id, event);
      const areStored = await Promise.all(events.map((event) => this.#store(event)));
      if (events.some(({ folded }, index) => areStored[index] && !folded)) await projection.catchUp().catch(ignore);
      // The stored events of the batch may depend on events that were not stored.
      if (this.hasDoubt) await this.#prepare();
      for (const { waiting, folded } of events) {
        if (folded) waiting.resolve(folded.outcome);
        else waiting.reject(new StoreUnavailable('The change was stored, but cannot be read at the moment'));
      }
    } finally {
      this.#pending.clear();
      if (this.hasDoubt) projection.retryLater();
    }
  }

  /** Resolves to true if the event is stored. */
  async #store({ id, waiting }: PendingEvent<Outcome>): Promise<boolean> {
    try {
      await this.#options.log.appendAll([waiting.item], [id]);
      return true;
    } catch (error) {
      if (this.#mayBeStored(error)) this.#noteDoubt(id);
      waiting.reject(error as Error);
      return false;
    }
  }

  #mayBeStored(error: unknown): boolean {
    const { log, hasSnapshot } = this.#options;
    const isShared = log.state().assignedSeq === undefined;
    // Nothing is written while disk space is low.
    return (
      hasSnapshot && !isShared && codeOf(error) === 'unavailable' && codeOf((error as Error).cause) !== 'low-space'
    );
  }

  #noteDoubt(id: string): void {
    this.#doubtfulIds.add(id);
    // Other writers also append to this log, but they get no seq after a failure.
    this.#doubtfulSeq = Math.max(this.#doubtfulSeq, this.#options.log.state().assignedSeq ?? 0);
  }

  /** Ensures that the next event gets a seq after the snapshot, and that no event in doubt precedes it. */
  async #prepare(): Promise<void> {
    const { log, projection, fillsLog } = this.#options;
    if (!projection.hasRead) await projection.catchUp();
    const isOwnLog = log.state().assignedSeq !== undefined;
    if (isOwnLog && !this.#isFilled && fillsLog) {
      await this.#fillLog();
      this.#isFilled = true;
    }
    if (!this.hasDoubt) return;
    const { healthy, failure } = log.state();
    if (!healthy) throw toUnavailable(failure);
    await projection.catchUp();
    projection.skipTo(this.#doubtfulSeq);
    await projection.save().catch((error: Error) => {
      throw toUnavailable(error);
    });
    this.#doubtfulIds.clear();
  }

  /** If the log was lost, appends empty records up to the seq of the snapshot. */
  async #fillLog(): Promise<void> {
    const { log, projection, empty } = this.#options;
    for (let missing = projection.seq - (log.state().lastSeq ?? 0); missing > 0; missing -= fillCount) {
      await log.appendAll(Array.from({ length: Math.min(missing, fillCount) }, () => empty));
    }
  }
}

const ignore = (): void => undefined;

const toUnavailable = (cause: Error | undefined): JournalError =>
  new JournalError('unavailable', 'an earlier event failed, and may or may not be stored', { cause });
