import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../expected-errors.ts';
import type { Connection, Row, Statement } from './connection.ts';
import { isMissing, isPassing, toUnavailable } from './database-errors.ts';

/** Connections for short reads; each takes many statements at once. */
const connectionCount = 2;

/** Milliseconds between two attempts. */
const retryMs = 100;

/** How many reads may wait. */
const waitingCount = 10_000;

/** Long lists that are read at the same time, and first pages of lists. */
const mostSnapshots = 2;
const mostFirstPages = 16;

/** Milliseconds that a list waits for its turn. */
const turnMs = 5000;

/** Milliseconds without a query after which a snapshot is closed: its reader has gone, or is too slow. */
const idleMs = 60_000;

/** Reads of one moment, on a connection of its own. */
export interface DatabaseSnapshot {
  /** Throws StoreUnavailable; the snapshot is closed then. */
  query(statement: Statement): Promise<Row[]>;
  close(): void;
}

/** Reads from the primary, so each instance reads what any other has written. */
export class Reader {
  readonly #openToRead: () => Promise<Connection>;
  readonly #open: () => Promise<Connection>;
  readonly #attemptsMs: number;
  readonly #connections: (Promise<Connection> | undefined)[] = Array.from({ length: connectionCount }, () => undefined);
  readonly #snapshots = new Turns(mostSnapshots);
  readonly #firstPages = new Turns(mostFirstPages);
  #next = 0;
  #waiting = 0;
  #isStopping = false;
  #isClosed = false;

  /** Snapshots are read from connections of `open`. A read is attempted again for `attemptsMs`; the last attempt may take 4 s more. */
  constructor(openToRead: () => Promise<Connection>, open: () => Promise<Connection>, attemptsMs: number) {
    this.#openToRead = openToRead;
    this.#open = open;
    this.#attemptsMs = attemptsMs;
  }

  async query(statement: Statement): Promise<Row[]> {
    if (this.#waiting >= waitingCount) throw new StoreUnavailable('Too many reads are waiting for the database');
    this.#waiting += 1;
    try {
      return await this.#attempt(statement);
    } finally {
      this.#waiting -= 1;
    }
  }

  async queryFirstPage(statement: Statement): Promise<Row[]> {
    const leave = await this.#firstPages.take();
    return this.query(statement).finally(leave);
  }

  async openSnapshot(): Promise<DatabaseSnapshot> {
    const leave = await this.#snapshots.take();
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
        throw toUnavailable(error);
      }
    };
    await query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
    return { query, close };
  }

  /** From now on nothing is attempted again, so that what waits ends soon. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Reads that have not ended get StoreUnavailable. */
  close(): void {
    this.#isStopping = true;
    this.#isClosed = true;
    for (const connection of this.#connections) connection?.then((opened) => opened.close()).catch(() => undefined);
  }

  async #attempt(statement: Statement): Promise<Row[]> {
    const lastAttemptAt = performance.now() + this.#attemptsMs;
    for (;;) {
      let connection: Connection | undefined;
      try {
        connection = await this.#connect();
        return await connection.query(statement);
      } catch (error) {
        if (isMissing(error)) connection?.close();
        if (this.#isStopping || !isPassing(error) || performance.now() > lastAttemptAt) throw toUnavailable(error);
        await pause(retryMs);
      }
    }
  }

  /** One of the connections, in turn; opened if it has ended. */
  async #connect(): Promise<Connection> {
    this.#next = (this.#next + 1) % connectionCount;
    const place = this.#next;
    const opened = this.#connections[place];
    if (opened && (await opened.catch(() => undefined))?.isOpen) return opened;
    // A connection that nobody closes would keep the process running.
    if (this.#isClosed) throw new StoreUnavailable('The server is stopping');
    // Another caller may have replaced it meanwhile.
    if (this.#connections[place] === opened) this.#connections[place] = this.#openToRead();
    return this.#connections[place] as Promise<Connection>;
  }
}

/** Lets a number of callers work at the same time, first come first served. */
class Turns {
  readonly #line: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves to the function that ends the turn, to be called once. Throws StoreUnavailable if none comes in time. */
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
        reject(new StoreUnavailable('Too many lists are being read; try again later'));
      }, turnMs).unref();
      this.#line.push(begin);
    });
  }
}
