import { setTimeout as pause } from 'node:timers/promises';
import type { Row, Statement } from '../connecting/connection.ts';

/** Milliseconds from the start to the first sweep, and between two; each instance sweeps. */
const firstMs = 1000;
const hourMs = 60 * 60 * 1000;

/** Rows that are deleted at once, and milliseconds until the next. */
const deletedCount = 1000;
const pauseMs = 50;

/** Rows of a table that are deleted at some age. */
export interface Expiry {
  table: string;
  /** Its primary key. */
  key: string;
  /** The column with the time of a row: milliseconds since 1970, or a timestamp. */
  at: { milliseconds: string } | { timestamp: string };
  /** Milliseconds for which rows are kept, or what finds out before each sweep; Infinity keeps all. */
  keptMs: number | (() => Promise<number>);
  clock(): Date;
}

/** Deletes old rows, a few at a time, once an hour. */
export class Sweep {
  readonly #query: (statement: Statement) => Promise<Row[]>;
  readonly #expiries: Expiry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(query: (statement: Statement) => Promise<Row[]>) {
    this.#query = query;
  }

  add(expiry: Expiry): void {
    this.#expiries.push(expiry);
    this.#timer ??= this.#plan(firstMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #plan(ms: number): NodeJS.Timeout {
    const sweep = async (): Promise<void> => {
      // A database that cannot be used is swept the next time.
      for (const expiry of this.#expiries) await this.#delete(expiry).catch(() => undefined);
      if (!this.#isClosed) this.#timer = this.#plan(hourMs);
    };
    return setTimeout(() => void sweep(), ms).unref();
  }

  async #delete({ table, key, at, keptMs: kept, clock }: Expiry): Promise<void> {
    const keptMs = typeof kept === 'number' ? kept : await kept();
    if (keptMs === Number.POSITIVE_INFINITY) return;
    const [column, limit] =
      'milliseconds' in at ? [at.milliseconds, '$1::bigint'] : [at.timestamp, 'to_timestamp($1::bigint / 1000)'];
    // Other instances sweep, too.
    const text = `WITH gone AS (DELETE FROM signalbox.${table} WHERE ${key} IN (SELECT ${key} FROM signalbox.${table}
      WHERE ${column} < ${limit} ORDER BY ${column} LIMIT ${deletedCount} FOR UPDATE SKIP LOCKED) RETURNING 1)
      SELECT count(*) AS count FROM gone`;
    for (let count = deletedCount; count === deletedCount && !this.#isClosed; ) {
      const [row] = await this.#query({ text, values: [clock().getTime() - keptMs] });
      count = row.count;
      if (count === deletedCount) await pause(pauseMs);
    }
  }
}
