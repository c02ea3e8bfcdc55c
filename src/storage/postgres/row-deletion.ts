import { setTimeout as pause } from 'node:timers/promises';
import { createSerial } from '../../lib/scheduling.ts';
import { hourMs } from '../../lib/units.ts';
import type { Row, Statement } from './connection.ts';

/** Milliseconds between startup and the first deletion. */
const firstMs = 1000;

/** Number of rows per deletion, and milliseconds before the next deletion. */
const deletedCount = 1000;
const pauseMs = 50;

/** Rows of a table that are deleted when they reach a certain age. */
export interface Expiry {
  table: string;
  /** Primary key. */
  key: string;
  /** Column with the time of a row: milliseconds since 1970, or a timestamp. */
  at: { milliseconds: string } | { timestamp: string };
  /**
   * Milliseconds for which rows are kept, or a function that is called before each deletion. Infinity keeps all rows.
   */
  keptMs: number | (() => Promise<number>);
  clock(): Date;
  /**
   * Keeps rows until the snapshot of the projection contains them. `onWaiting` is called if rows are waiting for a
   * snapshot.
   */
  covered?: { projection: string; onWaiting(): void } | undefined;
}

/** Rows of a table that are deleted once a snapshot contains them. */
export interface Cut {
  table: string;
  /** Resolves to the seq of the last row to delete. 0 if there is none. */
  findLast(): Promise<number>;
}

/** Deletes old rows hourly, a few at a time, on every instance. */
export class RowDeletion {
  readonly #query: (statement: Statement) => Promise<Row[]>;
  readonly #expiries: Expiry[] = [];
  readonly #cuts: Cut[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #deleteSerially = createSerial();
  #isClosed = false;

  constructor(query: (statement: Statement) => Promise<Row[]>) {
    this.#query = query;
  }

  expire(expiry: Expiry): void {
    this.#expiries.push(expiry);
    this.#timer ??= this.#plan(firstMs);
  }

  cut(cut: Cut): void {
    this.#cuts.push(cut);
    this.#timer ??= this.#plan(firstMs);
  }

  deleteSoon(): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = this.#plan(0);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #plan(ms: number): NodeJS.Timeout {
    const deleteOld = async (): Promise<void> => {
      // While the database is unavailable, rows wait for the next deletion.
      for (const { table, findLast } of this.#cuts) {
        await this.#deleteUpTo(table, findLast).catch(() => undefined);
      }
      for (const expiry of this.#expiries) await this.#expire(expiry).catch(() => undefined);
      if (this.#isClosed) return;
      clearTimeout(this.#timer);
      this.#timer = this.#plan(hourMs);
    };
    return setTimeout(() => void this.#deleteSerially(deleteOld), ms).unref();
  }

  async #deleteUpTo(table: string, findLast: () => Promise<number>): Promise<void> {
    const last = await findLast();
    if (last > 0) await this.#delete(table, 'seq', 'seq <= $1::bigint ORDER BY seq', () => last);
  }

  async #expire({ table, key, at, keptMs: kept, clock, covered }: Expiry): Promise<void> {
    const keptMs = typeof kept === 'number' ? kept : await kept();
    if (keptMs === Number.POSITIVE_INFINITY) return;
    const [column, limit] =
      'milliseconds' in at ? [at.milliseconds, '$1::bigint'] : [at.timestamp, 'to_timestamp($1::bigint / 1000)'];
    const findLimit = () => clock().getTime() - keptMs;
    const order = `ORDER BY ${column}`;
    if (!covered) return this.#delete(table, key, `${column} < ${limit} ${order}`, findLimit);
    const { projection, onWaiting } = covered;
    const saved = `coalesce((SELECT seq FROM signalbox.projection WHERE name = '${projection}'), 0)`;
    await this.#delete(table, key, `${column} < ${limit} AND ${key} <= ${saved} ${order}`, findLimit, projection);
    const text = `SELECT EXISTS (SELECT FROM signalbox.${table} WHERE ${column} < ${limit}) AS "areWaiting"`;
    const [row] = await this.#query({ text, values: [findLimit()] });
    if (row.areWaiting) onWaiting();
  }

  /**
   * Deletes rows. The same statement raises the projection's column `gone` to the last deleted seq. The projection may
   * then have to restore its snapshot.
   */
  async #delete(
    table: string,
    key: string,
    condition: string,
    findValue: () => number,
    projection?: string,
  ): Promise<void> {
    const noted = projection
      ? `, noted AS (UPDATE signalbox.projection SET gone = greatest(projection.gone, (SELECT max(${key}) FROM gone))
          WHERE name = '${projection}' AND EXISTS (SELECT FROM gone) RETURNING 1)`
      : '';
    // Other instances delete at the same time.
    const text = `WITH gone AS (DELETE FROM signalbox.${table} WHERE ${key} IN (SELECT ${key} FROM signalbox.${table}
      WHERE ${condition} LIMIT ${deletedCount} FOR UPDATE SKIP LOCKED) RETURNING ${key})${noted}
      SELECT count(*) AS count FROM gone`;
    for (let count = deletedCount; count === deletedCount && !this.#isClosed; ) {
      const [row] = await this.#query({ text, values: [findValue()] });
      count = row.count;
      if (count === deletedCount) await pause(pauseMs);
    }
  }
}
