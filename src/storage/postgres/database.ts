import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createSerial } from '../../lib/scheduling.ts';
import { hourMs } from '../../lib/units.ts';
import { readPostgresUrl } from './address.ts';
import type { Collection } from './batch.ts';
import { ChangeWriter, type Identity, type WriterObserver } from './change-writer.ts';
import { type Connection, Primary, type Row, type Statement } from './connection.ts';
import { findLastingProblem, toDatabaseUnavailable } from './database-errors.ts';
import { DatabaseReader, type DatabaseSnapshot } from './reader.ts';
import { type Common, claimCommon, migrate } from './schema.ts';

/** Milliseconds for which the row of an instance that has ended stays. */
const endedMs = 24 * 60 * 60 * 1000;

/** Milliseconds for which the lease of a machine or an instance that is gone stays: it says since when. */
const leaseKeptMs = 30 * endedMs;

/** Milliseconds from the start to the first deletion of old rows, and between two; each instance deletes. */
const firstMs = 1000;

/** Rows that are deleted at once, and milliseconds until the next. */
const deletedCount = 1000;
const pauseMs = 50;

/** How long requests wait for a database that does not answer, in milliseconds. */
export interface Patience {
  /** Until a change gets 503. */
  changesMs: number;
  /** For which a read is attempted again; the last attempt may take 4 s more. */
  readsMs: number;
}

const usualPatience: Patience = { changesMs: 10_000, readsMs: 5500 };

/** Rows of a table that are deleted at some age. */
interface Expiry {
  table: string;
  /** Its primary key. */
  key: string;
  /** The column with the time of a row: milliseconds since 1970, or a timestamp. */
  at: { milliseconds: string } | { timestamp: string };
  /** Milliseconds for which rows are kept, or what finds out before each deletion; Infinity keeps all. */
  keptMs: number | (() => Promise<number>);
  clock(): Date;
  /**
   * Rows stay until the snapshot of a projection has them; `onWaiting` is called where some wait for that. Where rows have come
   * for a day since anybody held the lease, nobody writes snapshots, and age alone counts.
   */
  covered?: { projection: string; lease: string; onWaiting(): void } | undefined;
}

/** Rows of a table that are deleted when a projection has them. */
interface Cut {
  table: string;
  /** Resolves to the seq of the last one before each deletion. */
  findLast(): Promise<number>;
}

/** The database that an instance shares with others. */
export class Database {
  /** The UUID of this instance, and its name. */
  readonly instance: string;
  readonly instanceName: string;
  readonly #primary: Primary;
  readonly #common: Common;
  readonly #observer: WriterObserver;
  readonly #reader: DatabaseReader;
  readonly #writer: ChangeWriter;
  /** Made when it is first used. */
  #apart: ChangeWriter | undefined;
  readonly #createApart: () => ChangeWriter;
  readonly #expiries: Expiry[] = [];
  readonly #cuts: Cut[] = [];
  #deletion: NodeJS.Timeout | undefined;
  readonly #deleteSerially = createSerial();
  #isClosed = false;

  /** Throws an Error, whose message is a clause, for an address that cannot be read. */
  constructor(
    url: string,
    identity: Identity,
    common: Common,
    observer: WriterObserver,
    { changesMs, readsMs }: Patience = usualPatience,
  ) {
    this.instance = identity.instance;
    this.instanceName = identity.name;
    this.#primary = new Primary(readPostgresUrl(url));
    this.#common = common;
    this.#observer = observer;
    const open = async () => this.#prepare(await this.#primary.connect());
    this.#reader = new DatabaseReader(async () => this.#prepare(await this.#primary.connectToRead()), open, readsMs);
    this.#writer = new ChangeWriter(open, identity, observer, changesMs);
    this.#createApart = () => {
      const ignore = (): void => undefined;
      // A name that no instance has: the list of instances leaves it out.
      const own = { ...identity, instance: randomUUID(), name: '' };
      return new ChangeWriter(open, own, { report: ignore, onRefused: ignore, onCommit: ignore }, changesMs);
    };
  }

  /** Throws a LastingProblem if the database cannot be used until somebody changes something; any other error passes. */
  async check(): Promise<void> {
    try {
      const connection = await this.#prepare(await this.#primary.connect());
      connection.close();
    } catch (error) {
      throw findLastingProblem(error) ?? error;
    }
  }

  /** Registers this instance. */
  begin(): void {
    this.#writer.begin();
    const clock = () => new Date();
    this.expire({ table: 'writer', key: 'instance', at: { timestamp: 'seen_at' }, keptMs: endedMs, clock });
    this.expire({ table: 'lease', key: 'name', at: { timestamp: 'until' }, keptMs: leaseKeptMs, clock });
  }

  /** Why changes cannot be written at the moment; undefined while they can, or before the first attempt. */
  get failure(): Error | undefined {
    const { failure } = this.#writer;
    return failure === undefined ? undefined : toDatabaseUnavailable(failure);
  }

  /** How many changes wait. */
  get waiting(): number {
    return this.#writer.waiting;
  }

  /** Whether changes could be written the last time. */
  isReady(): Promise<boolean> {
    return this.#writer.isReady();
  }

  /** Resolves to the result once it is committed; rejects with the refusal, or with StoreUnavailable within 10 s. */
  write<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    return this.#writer.write(collection, change);
  }

  /**
   * As `write`, on a connection of its own: whoever waits for these locks keeps no other change waiting. The caller reports
   * refused values.
   */
  writeApart<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    this.#apart ??= this.#createApart();
    return this.#apart.write(collection, change);
  }

  /** Tells the operator of a record that cannot be read. */
  reportDamage(damage: string): void {
    this.#observer.onDamage?.(damage);
  }

  /** The rows of a statement; throws StoreUnavailable within 10 s. */
  query(statement: Statement): Promise<Row[]> {
    return this.#reader.query(statement);
  }

  /** As `query`, for the first page of a list, which may be large: only some are read at the same time. */
  queryFirstPage(statement: Statement): Promise<Row[]> {
    return this.#reader.queryFirstPage(statement);
  }

  /** Reads of one moment; the caller closes it. Throws StoreUnavailable, also where others stay open too long. */
  openSnapshot(): Promise<DatabaseSnapshot> {
    return this.#reader.openSnapshot();
  }

  /** Deletes old rows once an hour, a few at a time, from now on. */
  expire(expiry: Expiry): void {
    this.#expiries.push(expiry);
    this.#deletion ??= this.#planDeletion(firstMs);
  }

  /** Deletes rows up to a seq as often, a few at a time, from now on. */
  cut(cut: Cut): void {
    this.#cuts.push(cut);
    this.#deletion ??= this.#planDeletion(firstMs);
  }

  /** Deletes old rows now: what they waited for is there. */
  deleteSoon(): void {
    clearTimeout(this.#deletion);
    if (!this.#isClosed) this.#deletion = this.#planDeletion(0);
  }

  /** From now on each request is attempted once: a server that stops does not wait for a database to come back. */
  stop(): void {
    this.#writer.stop();
    this.#apart?.stop();
    this.#reader.stop();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#deletion);
    await Promise.all([this.#writer.close(), this.#apart?.close()]);
    this.#reader.close();
  }

  /** With each connection, missing tables are made and what all instances have in common is compared: databases are replaced. */
  async #prepare(connection: Connection): Promise<Connection> {
    try {
      await migrate(connection, this.#observer.onMigrated);
      await claimCommon(connection, this.#common);
      return connection;
    } catch (error) {
      connection.close();
      throw findLastingProblem(error) ?? error;
    }
  }

  #planDeletion(ms: number): NodeJS.Timeout {
    const deleteOld = async (): Promise<void> => {
      // Where the database cannot be used, rows are deleted the next time.
      for (const { table, findLast } of this.#cuts) {
        await this.#deleteUpTo(table, findLast).catch(() => undefined);
      }
      for (const expiry of this.#expiries) await this.#expire(expiry).catch(() => undefined);
      if (this.#isClosed) return;
      clearTimeout(this.#deletion);
      this.#deletion = this.#planDeletion(hourMs);
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
    const { projection, lease, onWaiting } = covered;
    const saved = `coalesce((SELECT seq FROM signalbox.projection WHERE name = '${projection}'), 0)`;
    await this.#delete(table, key, `${column} < ${limit} AND ${key} <= ${saved} ${order}`, findLimit, {
      name: projection,
      raised: ['gone'],
    });
    const text = `SELECT EXISTS (SELECT FROM signalbox.${table} WHERE ${column} < ${limit}) AS "areWaiting"`;
    const [row] = await this.query({ text, values: [findLimit()] });
    if (!row.areWaiting) return;
    if (!(await this.#isAbandoned(projection, lease))) return onWaiting();
    // The projection goes on after what is deleted.
    const noted = { name: projection, raised: ['gone', 'seq'] };
    await this.#delete(table, key, `${column} < ${limit} ${order}`, findLimit, noted);
  }

  /** Whether rows have come to the log for a day since anybody held the lease. */
  async #isAbandoned(log: string, lease: string): Promise<boolean> {
    const text = `SELECT NOT EXISTS (SELECT FROM signalbox.lease WHERE name = $1 AND (until > now() - interval '1 day'
      OR NOT EXISTS (SELECT FROM signalbox.${log} WHERE at > extract(epoch FROM until + interval '1 day') * 1000)))
      AS "isAbandoned"`;
    const [row] = await this.query({ text, values: [lease] });
    return row.isAbandoned;
  }

  /** Raises columns of a projection to the last seq of what is deleted, in the same statement: it may have to restore its snapshot. */
  async #delete(
    table: string,
    key: string,
    condition: string,
    findValue: () => number,
    projection?: { name: string; raised: readonly string[] },
  ): Promise<void> {
    const raise = (column: string): string =>
      `${column} = greatest(projection.${column}, (SELECT max(${key}) FROM gone))`;
    const noted = projection
      ? `, noted AS (UPDATE signalbox.projection SET ${projection.raised.map(raise).join(', ')}
          WHERE name = '${projection.name}' AND EXISTS (SELECT FROM gone) RETURNING 1)`
      : '';
    // Other instances delete, too.
    const text = `WITH gone AS (DELETE FROM signalbox.${table} WHERE ${key} IN (SELECT ${key} FROM signalbox.${table}
      WHERE ${condition} LIMIT ${deletedCount} FOR UPDATE SKIP LOCKED) RETURNING ${key})${noted}
      SELECT count(*) AS count FROM gone`;
    for (let count = deletedCount; count === deletedCount && !this.#isClosed; ) {
      const [row] = await this.query({ text, values: [findValue()] });
      count = row.count;
      if (count === deletedCount) await pause(pauseMs);
    }
  }
}
