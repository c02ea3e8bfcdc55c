import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Connection, Row, Statement } from './connection.ts';
import { isMissing, isPassing, isRefusedValue, toDatabaseUnavailable, toValueRefusal } from './database-errors.ts';

/** Number of connections for short reads. Each handles many statements concurrently. */
const connectionCount = 2;

/** Milliseconds between attempts. */
const retryMs = 100;

/** Maximum number of waiting reads. */
const waitingCount = 10_000;

/** Maximum number of long lists, and of first pages of lists, that are read at a time. */
const transactionCount = 2;
const firstPageCount = 16;

/** Milliseconds that a list waits for its turn. */
const placeMs = 5000;

/**
 * Maximum milliseconds for a read that begins during shutdown. Short, because several features may read one after
 * another.
 */
const briefMs = 1000;

/** Milliseconds without a query after which a transaction is closed, because its reader has left or is too slow. */
const idleMs = 60_000;

/** Transaction on a separate connection that reads a consistent snapshot. */
export interface ReadTransaction {
  /** Runs a query. If the query fails, closes the transaction and rejects with StoreUnavailable. */
  query(statement: Statement): Promise<Row[]>;
  close(): void;
}

/** Reads from the primary, so that each instance sees all writes of other instances. */
export class DatabaseReader {
  readonly #openToRead: () => Promise<Connection>;
  readonly #open: () => Promise<Connection>;
  readonly #attemptsMs: number;
  readonly #connections: (Promise<Connection> | undefined)[] = Array.from({ length: connectionCount }, () => undefined);
  readonly #transactions = new CallerLimit(transactionCount);
  readonly #firstPages = new CallerLimit(firstPageCount);
  #next = 0;
  #waiting = 0;
  #isStopping = false;
  #isClosed = false;

  /**
   * Creates a reader. `open` is for transactions. Reads are retried for `attemptsMs`. The last attempt may take 4 s
   * more.
   */
  constructor(openToRead: () => Promise<Connection>, open: () => Promise<Connection>, attemptsMs: number) {
    this.#openToRead = openToRead;
    this.#open = open;
    this.#attemptsMs = attemptsMs;
  }

  async query(statement: Statement): Promise<Row[]> {
    if (this.#waiting >= waitingCount) throw new StoreUnavailable('Too many reads are waiting for the database');
    this.#waiting += 1;
    try {
      return await (this.#isStopping ? this.#attemptBriefly(statement) : this.#attempt(statement));
    } finally {
      this.#waiting -= 1;
    }
  }

  async queryFirstPage(statement: Statement): Promise<Row[]> {
    const leave = await this.#firstPages.take();
    return this.query(statement).finally(leave);
  }

  async openTransaction(): Promise<ReadTransaction> {
    const leave = await this.#transactions.take();
    let connection: Connection | undefined;
    let isClosed = false;
    const close = (): void => {
      if (isClosed) return;
      isClosed = true;
      idle.close();
      connection?.close();
      leave();
    };
    const idle = setTimeout(close, idleMs).unref();
    const query = async (statement: Statement): Promise<Row[]> => {
      idle.refresh();
      try {
        connection ??= await this.#open();
        return await connection.query(statement);
      } catch (error) {
        close();
        throw toDatabaseUnavailable(error);
      }
    };
    await query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    return { query, close };
  }

  /** Stops retrying. Waiting reads then end soon. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Rejects open reads with StoreUnavailable. */
  close(): void {
    this.#isStopping = true;
    this.#isClosed = true;
    for (const connection of this.#connections) connection?.then((opened) => opened.close()).catch(() => undefined);
  }

  async #attemptBriefly(statement: Statement): Promise<Row[]> {
    const rows = await awaitWithin(briefMs, this.#attempt(statement));
    if (!rows) throw new StoreUnavailable('The server is stopping');
    return rows;
  }

  async #attempt(statement: Statement): Promise<Row[]> {
    const lastAttemptAt = performance.now() + this.#attemptsMs;
    for (;;) {
      let connection: Connection | undefined;
      try {
        connection = await this.#connect();
        return await connection.query(statement);
      } catch (error) {
        if (isRefusedValue(error)) throw toValueRefusal(error);
        if (isMissing(error)) connection?.close();
        if (this.#isStopping || !isPassing(error) || performance.now() > lastAttemptAt)
          throw toDatabaseUnavailable(error);
        await pause(retryMs);
      }
    }
  }

  /** Returns the connections in rotation. Replaces a connection that has ended. */
  async #connect(): Promise<Connection> {
    this.#next = (this.#next + 1) % connectionCount;
    const place = this.#next;
    const opened = this.#connections[place];
    if (opened && (await opened.catch(() => undefined))?.isOpen) return opened;
    // A connection opened now would never be closed and would keep the process running.
    if (this.#isClosed) throw new StoreUnavailable('The server is stopping');
    // Another caller may have replaced the connection in the meantime.
    if (this.#connections[place] === opened) this.#connections[place] = this.#openToRead();
    return this.#connections[place] as Promise<Connection>;
  }
}

/** Limits the number of concurrent callers. Further callers queue. */
class CallerLimit {
  readonly #line: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Resolves to a function that frees the caller's place. Rejects with StoreUnavailable if no place becomes free in
   * time.
   */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#waitInLine();
    return () => {
      const next = this.#line.shift();
      if (next) next();
      else this.#free += 1;
    };
  }

  #waitInLine(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(begin), 1);
        reject(new StoreUnavailable('Too many lists are being read; try again in a second'));
      }, placeMs).unref();
      this.#line.push(begin);
    });
  }
}
