import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../../expected-errors.ts';
import type { Connection, Row, Statement } from '../connecting/connection.ts';
import { isMissing, isPassing, toUnavailable } from '../connecting/database-errors.ts';

/** Connections for short reads; each takes many statements at once. */
const connectionCount = 2;

/** Milliseconds between two attempts. */
const retryMs = 100;

/** How many reads may wait. */
const waitingCount = 10_000;

/** Reads from the primary, so each instance reads what any other has written. */
export class Reader {
  readonly #open: () => Promise<Connection>;
  readonly #attemptsMs: number;
  readonly #connections: (Promise<Connection> | undefined)[] = Array.from({ length: connectionCount }, () => undefined);
  #next = 0;
  #waiting = 0;
  #isStopping = false;
  #isClosed = false;

  /** A read is attempted again for `attemptsMs`; the last attempt may take 4 s more. */
  constructor(open: () => Promise<Connection>, attemptsMs: number) {
    this.#open = open;
    this.#attemptsMs = attemptsMs;
  }

  /** The rows of a statement; throws StoreUnavailable in time. */
  async query(statement: Statement): Promise<Row[]> {
    if (this.#waiting >= waitingCount) throw new StoreUnavailable('Too many reads are waiting for the database');
    this.#waiting += 1;
    try {
      return await this.#attempt(statement);
    } finally {
      this.#waiting -= 1;
    }
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
    if (this.#connections[place] === opened) this.#connections[place] = this.#open();
    return this.#connections[place] as Promise<Connection>;
  }
}
