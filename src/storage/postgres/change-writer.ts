import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { MiB } from '../../lib/units.ts';
import { Batcher, type Waiting } from '../batcher.ts';
import { lengthOf } from '../changes.ts';
import { type Collection, type CollectionChange, execute } from './batch.ts';
import type { Connection } from './connection.ts';
import { isPassing, isRefusedValue, toDatabaseUnavailable, toValueRefusal } from './database-errors.ts';
import { knownVersion } from './migrations.ts';

/** Milliseconds between attempts. */
const retryMs = 100;

/** Limits of batches. Sizes are in characters. A batch gathers changes for about as long as a write takes. */
const limits = {
  maxCount: 10_000,
  maxSize: 16 * MiB,
  batchCount: 1000,
  batchSize: MiB,
  gatherMs: 4,
};

/** Milliseconds between signs of life from an idle instance. */
const seenMs = 5000;

const notApplied = ', and the change was not applied';
const maybeApplied = '; the change may have been applied';

interface QueuedChange extends CollectionChange {
  /** True while the change may have been committed. */
  isUncertain: boolean;
  /** Time at which the change is refused with a 503, on the clock of `performance.now()`. */
  expiresAt: number;
}

type WaitingChange = Waiting<QueuedChange, unknown>;

export interface Identity {
  /** UUID of this process. */
  instance: string;
  name: string;
  version: string;
}

export interface WriterObserver {
  /** Receives the error when writes begin to fail, and undefined when they work again. */
  report(failure: unknown): void;
  /** Receives the reason if the database refuses a change. */
  onRefused(error: unknown): void;
  /** Receives the duration of each batch in seconds, from the first message to the commit. */
  onCommit(seconds: number): void;
  /** Receives a description of an unreadable record, as a clause. */
  onDamage?(damage: string): void;
  /** Receives the progress of migrations. */
  onMigrated?(done: number, total: number): void;
}

/**
 * Writes the changes of this instance. Waiting changes form a batch. If the outcome of a batch is unknown, the next
 * connection settles it: registering raises the epoch, so that the old connection cannot commit anything more, and
 * reads the number of the last committed batch.
 */
export class ChangeWriter {
  readonly #open: () => Promise<Connection>;
  readonly #identity: Identity;
  readonly #observer: WriterObserver;
  readonly #deadlineMs: number;
  readonly #batcher = new Batcher<QueuedChange, unknown>(limits, (batch) => this.#write(batch));
  /** Unsettled changes, earliest deadline first. */
  readonly #unsettled = new Set<WaitingChange>();
  /** Timer for the first deadline. */
  #expiry: NodeJS.Timeout | undefined;
  #begun: Promise<void> | undefined;
  #connection: Connection | undefined;
  #epoch = 0;
  /** Number of the last started batch. */
  #batch = 0;
  /** Number of the last batch known to be committed. */
  #committed = 0;
  #lastFailure: unknown;
  #sign: NodeJS.Timeout | undefined;
  #isStopping = false;
  #isClosed = false;

  /** Creates a writer. Changes are refused with a 503 after `deadlineMs`. */
  constructor(open: () => Promise<Connection>, identity: Identity, observer: WriterObserver, deadlineMs: number) {
    this.#open = open;
    this.#identity = identity;
    this.#observer = observer;
    this.#deadlineMs = deadlineMs;
  }

  /** Registers this instance, then writes signs of life. */
  begin(): void {
    this.#sign = setInterval(() => this.#batcher.start(), seenMs).unref();
    this.#batcher.start();
    this.#begun = this.#batcher.running;
  }

  /** Resolves to true if the last attempt to write succeeded. Waits for the first attempt. */
  async isReady(): Promise<boolean> {
    await this.#begun;
    return this.#connection?.isOpen === true;
  }

  /** Number of changes waiting for a batch. */
  get waiting(): number {
    return this.#batcher.queued;
  }

  /** Error of the last attempt to write. Undefined after a success, and before the first attempt has ended. */
  get failure(): unknown {
    return this.#lastFailure;
  }

  /**
   * Resolves to the result of the committed change. Rejects with its refusal, or with StoreUnavailable after
   * `deadlineMs`.
   */
  write<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    if (this.#isClosed) throw new StoreUnavailable('The server is stopping');
    const expiresAt = performance.now() + this.#deadlineMs;
    const waiting = this.#batcher.add({ collection, change, isUncertain: false, expiresAt }, lengthOf(change));
    if (!waiting) throw new StoreUnavailable('Too many changes are waiting for the database; try again in a second');
    this.#unsettled.add(waiting);
    this.#expiry ??= setTimeout(() => this.#expire(), this.#deadlineMs).unref();
    return waiting.promise as Promise<Result>;
  }

  /** Stops retrying. Waiting changes then end soon. */
  stop(): void {
    this.#isStopping = true;
  }

  async close(): Promise<void> {
    this.stop();
    this.#isClosed = true;
    clearInterval(this.#sign);
    await this.#batcher.running;
    this.#connection?.close();
  }

  #refuse(changes: Iterable<WaitingChange>, refusal: Error): void {
    for (const waiting of changes) {
      this.#unsettled.delete(waiting);
      waiting.reject(refusal);
    }
  }

  /** Refuses changes whose deadline has passed, then waits for the next deadline. */
  #expire(): void {
    const now = performance.now();
    this.#expiry = undefined;
    for (const waiting of this.#unsettled) {
      const { expiresAt, isUncertain } = waiting.item;
      if (expiresAt > now) {
        this.#expiry = setTimeout(() => this.#expire(), expiresAt - now).unref();
        return;
      }
      this.#refuse([waiting], toDatabaseUnavailable(this.#lastFailure, isUncertain ? maybeApplied : notApplied));
    }
  }

  /**
   * Writes a batch until all its changes are settled. An empty batch is a sign of life. If the database refuses a
   * change, the batch is halved until only that change is refused.
   */
  async #write(batch: readonly WaitingChange[]): Promise<void> {
    let left = batch;
    do {
      try {
        await this.#attempt(left);
        this.#note(undefined);
      } catch (error) {
        if (isRefusedValue(error) && left.length > 1) {
          await this.#write(left.slice(0, left.length / 2));
          await this.#write(left.slice(left.length / 2));
          return;
        }
        if (isRefusedValue(error) && left.length === 1) {
          // The database works. It permanently refuses only this change.
          this.#note(undefined);
          this.#observer.onRefused(error);
          this.#refuse(left, toValueRefusal(error));
          return;
        }
        this.#note(error);
        this.#drop();
        if (this.#isStopping) this.#refuse(this.#unsettled, toDatabaseUnavailable(error, notApplied));
        else if (!isPassing(error)) this.#refuse(left, toDatabaseUnavailable(error, notApplied));
        else if (left.length > 0) await pause(retryMs);
      }
      left = left.filter(({ isSettled }) => !isSettled);
    } while (left.length > 0);
  }

  async #attempt(batch: readonly WaitingChange[]): Promise<void> {
    const connection = await this.#connect();
    this.#batch += 1;
    const fence = { instance: this.#identity.instance, epoch: this.#epoch, batch: this.#batch };
    const begin = performance.now();
    const operations = batch.map(({ item }) => item);
    const result = await execute(connection, fence, operations, () => claim(batch));
    if (result.outcome === 'committed') this.#observer.onCommit((performance.now() - begin) / 1000);
    if (result.outcome === 'unknown') {
      this.#drop();
      await this.#learn(batch);
    }
    for (const operation of operations) operation.isUncertain = false;
    if (result.outcome === 'failed') throw result.error;
    const isCommitted = result.outcome === 'committed' || this.#committed === fence.batch;
    if (!isCommitted) throw new Error('the connection was lost before the commit');
    for (const waiting of batch) {
      const decision = result.decisions.get(waiting.item);
      if (!decision) continue;
      this.#unsettled.delete(waiting);
      if ('refusal' in decision) waiting.reject(decision.refusal);
      else waiting.resolve(decision.result);
    }
  }

  /** Reconnects to find out which batch was committed last. Gives up when all changes have expired. */
  async #learn(batch: readonly WaitingChange[]): Promise<void> {
    while (batch.some(({ isSettled }) => !isSettled)) {
      try {
        await this.#connect();
        return;
      } catch (error) {
        this.#note(error);
        if (this.#isStopping) this.#refuse(batch, toDatabaseUnavailable(error, maybeApplied));
        else await pause(retryMs);
      }
    }
  }

  /** Resolves to a connection registered in the table of writers. */
  async #connect(): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    const connection = await this.#open();
    try {
      const { instance, name, version } = this.#identity;
      const { warnings } = connection;
      const [row] = await connection.query({ text: register, values: [instance, name, version, knownVersion] });
      // This commit, too, counts only once the standby has it.
      if (connection.warnings > warnings) throw new Error('a commit was not confirmed by the standby');
      this.#epoch = row.epoch;
      this.#committed = row.batch;
      this.#batch = Math.max(this.#batch, row.batch);
      this.#connection = connection;
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #drop(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  #note(failure: unknown): void {
    if ((failure === undefined) !== (this.#lastFailure === undefined)) this.#observer.report(failure);
    this.#lastFailure = failure;
  }
}

/** SQL for the microseconds since 1970. With them, the epoch increases even if the row was deleted in the meantime. */
const now = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

const register = `INSERT INTO signalbox.writer AS writer (instance, epoch, batch, name, version, seen_at, knows)
  VALUES ($1, ${now}, 0, $2, $3, now(), $4)
  ON CONFLICT (instance) DO UPDATE SET epoch = greatest(writer.epoch + 1, ${now}), seen_at = now()
  RETURNING epoch, batch`;

/** Returns the changes that have not expired, and marks them as possibly committed. */
const claim = (batch: readonly WaitingChange[]): CollectionChange[] => {
  const wanted = batch.filter(({ isSettled }) => !isSettled).map(({ item }) => item);
  for (const change of wanted) change.isUncertain = true;
  return wanted;
};
