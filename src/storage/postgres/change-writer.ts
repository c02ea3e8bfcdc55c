import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../expected-errors.ts';
import { createGathering } from '../journal/scheduling.ts';
import { lengthOf } from '../length.ts';
import { type Collection, type Decision, execute, type Operation } from './batch.ts';
import type { Connection } from './connection.ts';
import { isPassing, isRefusedValue, toUnavailable } from './database-errors.ts';

/** Milliseconds between two attempts. */
const retryMs = 100;

/** How many changes may wait, and characters of them. */
const waitingCount = 10_000;
const waitingLength = 16 * 1024 * 1024;

/** How many changes are written together, and characters of them, unless one change is longer. */
const batchCount = 1000;
const batchLength = 1024 * 1024;

/** Milliseconds that a batch waits at most for requests that come with the first: about as long as it takes to write. */
const gatheringMs = 4;

/** Milliseconds between two signs of life of an idle instance. */
const seenMs = 5000;

const notApplied = ', and the change was not applied';
const maybeApplied = '; the change may have been applied';

interface Waiting extends Operation {
  length: number;
  /** Set while its commit may have happened. */
  isUncertain: boolean;
  isSettled: boolean;
  /** When it gets 503, by `performance.now()`. */
  expiresAt: number;
  resolve(result: unknown): void;
  reject(refusal: Error): void;
}

export interface Identity {
  /** A UUID of this process. */
  instance: string;
  name: string;
  version: string;
}

export interface WriterObserver {
  /** Gets the failure when writing begins to fail, and undefined when it works again. */
  report(failure: unknown): void;
  /** Gets the seconds that each batch took, from the first message to its commit. */
  onCommit(seconds: number): void;
}

/**
 * Writes the changes of this instance, all that wait together. A batch whose commit is unknown is settled with the next
 * connection: registering raises the epoch, after which the old connection can commit nothing more, and reads the number
 * of the last batch that was committed.
 */
export class ChangeWriter {
  readonly #open: () => Promise<Connection>;
  readonly #identity: Identity;
  readonly #observer: WriterObserver;
  readonly #deadlineMs: number;
  #waiting: Waiting[] = [];
  #waitingLength = 0;
  /** All that are not settled, in the order of their deadlines, and the timer of the first. */
  readonly #unsettled = new Set<Waiting>();
  #expiry: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #begun: Promise<void> | undefined;
  #connection: Connection | undefined;
  #epoch = 0;
  /** The number of the last batch that was begun, and of the last that is known to be committed. */
  #batch = 0;
  #committed = 0;
  #lastFailure: unknown;
  #sign: NodeJS.Timeout | undefined;
  #isStopping = false;
  #isClosed = false;
  readonly #gather = createGathering(() => this.#waiting.length, gatheringMs);

  /** A change gets 503 after `deadlineMs`. */
  constructor(open: () => Promise<Connection>, identity: Identity, observer: WriterObserver, deadlineMs: number) {
    this.#open = open;
    this.#identity = identity;
    this.#observer = observer;
    this.#deadlineMs = deadlineMs;
  }

  /** Registers this instance, and shows from now on that it lives. */
  begin(): void {
    this.#sign = setInterval(() => this.#start(), seenMs).unref();
    this.#start();
    this.#begun = this.#running;
  }

  /** Whether the last attempt to write succeeded; waits for the first one. */
  async isReady(): Promise<boolean> {
    await this.#begun;
    return this.#connection?.isOpen === true;
  }

  /** How many changes wait for their batch. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Why the last attempt to write failed; undefined if it succeeded, or none has ended yet. */
  get failure(): unknown {
    return this.#lastFailure;
  }

  /** Resolves to the result once it is committed; rejects with the refusal, or with StoreUnavailable in time. */
  write<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    if (this.#isClosed) throw new StoreUnavailable('The server is stopping');
    const length = lengthOf(change);
    const isTooMuch = this.#waiting.length > 0 && this.#waitingLength + length > waitingLength;
    if (isTooMuch || this.#waiting.length >= waitingCount) {
      throw new StoreUnavailable('Too many changes are waiting for the database; try again in a second');
    }
    return new Promise((resolve, reject) => {
      const expiresAt = performance.now() + this.#deadlineMs;
      const settling = { isUncertain: false, isSettled: false, expiresAt, reject };
      const waiting: Waiting = { collection, change, length, ...settling, resolve: resolve as Waiting['resolve'] };
      this.#waiting.push(waiting);
      this.#waitingLength += length;
      this.#unsettled.add(waiting);
      this.#expiry ??= setTimeout(() => this.#expire(), this.#deadlineMs).unref();
      this.#start();
    });
  }

  /** From now on nothing is attempted again, so that what waits ends soon. */
  stop(): void {
    this.#isStopping = true;
  }

  async close(): Promise<void> {
    this.stop();
    this.#isClosed = true;
    clearInterval(this.#sign);
    await this.#running;
    this.#connection?.close();
  }

  #settle(waiting: Waiting, decision: Decision<unknown>): void {
    waiting.isSettled = true;
    this.#unsettled.delete(waiting);
    if ('refusal' in decision) waiting.reject(decision.refusal);
    else waiting.resolve(decision.result);
  }

  #settleAll(operations: readonly Waiting[], refusal: Error): void {
    for (const operation of operations) this.#settle(operation, { refusal });
  }

  /** Refuses those whose deadline is over, and waits for the next one. */
  #expire(): void {
    const now = performance.now();
    this.#expiry = undefined;
    for (const waiting of this.#unsettled) {
      if (waiting.expiresAt > now) {
        this.#expiry = setTimeout(() => this.#expire(), waiting.expiresAt - now).unref();
        return;
      }
      const outcome = waiting.isUncertain ? maybeApplied : notApplied;
      this.#settle(waiting, { refusal: toUnavailable(this.#lastFailure, outcome) });
    }
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) this.#start();
    });
  }

  async #run(): Promise<void> {
    do {
      await this.#gather();
      await this.#write(this.#take());
    } while (this.#waiting.length > 0);
  }

  #take(): Waiting[] {
    let count = 0;
    let length = 0;
    for (const waiting of this.#waiting) {
      if (count === batchCount || (count > 0 && length + waiting.length > batchLength)) break;
      count += 1;
      length += waiting.length;
    }
    this.#waitingLength -= length;
    return this.#waiting.splice(0, count).filter(({ isSettled }) => !isSettled);
  }

  #takeAll(): Waiting[] {
    this.#waitingLength = 0;
    return this.#waiting.splice(0);
  }

  /**
   * Writes a batch, again and again until each of its changes is settled; an empty one as a sign of life. One with a change
   * that the database refuses is halved, so that only that change is refused.
   */
  async #write(batch: readonly Waiting[]): Promise<void> {
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
        this.#note(error);
        this.#drop();
        if (this.#isStopping) this.#settleAll([...left, ...this.#takeAll()], toUnavailable(error, notApplied));
        else if (!isPassing(error)) this.#settleAll(left, toUnavailable(error, notApplied));
        else if (left.length > 0) await pause(retryMs);
      }
      left = left.filter(({ isSettled }) => !isSettled);
    } while (left.length > 0);
  }

  async #attempt(operations: readonly Waiting[]): Promise<void> {
    const connection = await this.#connect();
    this.#batch += 1;
    const fence = { instance: this.#identity.instance, epoch: this.#epoch, batch: this.#batch };
    const begin = performance.now();
    const result = await execute(connection, fence, operations, () => claim(operations));
    if (result.outcome === 'committed') this.#observer.onCommit((performance.now() - begin) / 1000);
    if (result.outcome === 'unknown') {
      this.#drop();
      await this.#learn(operations);
    }
    for (const operation of operations) operation.isUncertain = false;
    if (result.outcome === 'failed') throw result.error;
    const isCommitted = result.outcome === 'committed' || this.#committed === fence.batch;
    if (!isCommitted) throw new Error('the connection was lost before the commit');
    for (const [operation, decision] of result.decisions) this.#settle(operation, decision);
  }

  /** Connects again, which tells what was committed last; gives up once all operations have expired, or are made to. */
  async #learn(operations: readonly Waiting[]): Promise<void> {
    while (operations.some(({ isSettled }) => !isSettled)) {
      try {
        await this.#connect();
        return;
      } catch (error) {
        this.#note(error);
        if (this.#isStopping) this.#settleAll(operations, toUnavailable(error, maybeApplied));
        else await pause(retryMs);
      }
    }
  }

  /** The connection, registered in the table of writers. */
  async #connect(): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    const connection = await this.#open();
    try {
      const { instance, name, version } = this.#identity;
      const { warnings } = connection;
      const [row] = await connection.query({ text: register, values: [instance, name, version] });
      // This commit, too, counts only if it is on the standby.
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

/** Microseconds since 1970: the epoch rises, too, where a row was deleted meanwhile. */
const now = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';

const register = `INSERT INTO signalbox.writer AS writer (instance, epoch, batch, name, version, seen_at)
  VALUES ($1, ${now}, 0, $2, $3, now())
  ON CONFLICT (instance) DO UPDATE SET epoch = greatest(writer.epoch + 1, ${now}), seen_at = now()
  RETURNING epoch, batch`;

/** Those that have not expired. From now on, their commit may have happened. */
const claim = (operations: readonly Waiting[]): Waiting[] => {
  const wanted = operations.filter(({ isSettled }) => !isSettled);
  for (const operation of wanted) operation.isUncertain = true;
  return wanted;
};
