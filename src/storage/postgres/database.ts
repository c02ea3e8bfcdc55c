import { randomUUID } from 'node:crypto';
import { dayMs } from '../../lib/units.ts';
import { readPostgresUrl } from './address.ts';
import type { Collection } from './batch.ts';
import { ChangeWriter, type Identity, type WriterObserver } from './change-writer.ts';
import { type Connection, Primary, type Row, type Statement } from './connection.ts';
import { findLastingProblem, toDatabaseUnavailable } from './database-errors.ts';
import { DatabaseReader, type ReadTransaction } from './reader.ts';
import { type Cut, type Expiry, RowDeletion } from './row-deletion.ts';
import { type Common, claimCommon, migrate } from './schema.ts';

/** Milliseconds until the row of an instance that has ended is deleted. */
const endedMs = dayMs;

/** Milliseconds until the lease of a machine or an instance that is gone is deleted; until then it says since when. */
const leaseKeptMs = 30 * dayMs;

/** Milliseconds for which requests wait for a database that does not respond. */
export interface Patience {
  /** Until a change gets 503. */
  changesMs: number;
  /** Until a read is retried no more; the last attempt may take 4 s longer. */
  readsMs: number;
}

const defaultPatience: Patience = { changesMs: 10_000, readsMs: 5500 };

/** The database that instances share. */
export class Database {
  /** UUID of this instance. */
  readonly instance: string;
  readonly instanceName: string;
  readonly #primary: Primary;
  readonly #common: Common;
  readonly #observer: WriterObserver;
  readonly #reader: DatabaseReader;
  readonly #writer: ChangeWriter;
  /** Writer of `writeApart`, created on first use. */
  #apart: ChangeWriter | undefined;
  readonly #createApart: () => ChangeWriter;
  readonly #deletion = new RowDeletion((statement) => this.query(statement));

  /** Throws an Error, whose message is a clause, for an invalid address. */
  constructor(
    url: string,
    identity: Identity,
    common: Common,
    observer: WriterObserver,
    { changesMs, readsMs }: Patience = defaultPatience,
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
      // The list of instances leaves out an instance without a name.
      const own = { ...identity, instance: randomUUID(), name: '' };
      return new ChangeWriter(open, own, { report: ignore, onRefused: ignore, onCommit: ignore }, changesMs);
    };
  }

  /** Throws a LastingProblem if the database needs a change before it can be used; other errors pass through. */
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

  /** Error of the last write; undefined while changes are stored, or before the first attempt. */
  get failure(): Error | undefined {
    const { failure } = this.#writer;
    return failure === undefined ? undefined : toDatabaseUnavailable(failure);
  }

  /** Number of waiting changes. */
  get waiting(): number {
    return this.#writer.waiting;
  }

  /** Resolves to true if the last write succeeded. */
  isReady(): Promise<boolean> {
    return this.#writer.isReady();
  }

  /** Resolves to the result of the committed change; rejects with its refusal, or with StoreUnavailable within 10 s. */
  write<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    return this.#writer.write(collection, change);
  }

  /**
   * Writes like `write`, on a connection of its own, so that waiting for a lock delays no other change. Refused values are not
   * reported.
   */
  writeApart<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    this.#apart ??= this.#createApart();
    return this.#apart.write(collection, change);
  }

  /** Logs a record that cannot be read. */
  reportDamage(damage: string): void {
    this.#observer.onDamage?.(damage);
  }

  /** Resolves to the rows of a statement; throws StoreUnavailable within 10 s. */
  query(statement: Statement): Promise<Row[]> {
    return this.#reader.query(statement);
  }

  /** Queries the first page of a list. Pages may be large, so only some are read at the same time. */
  queryFirstPage(statement: Statement): Promise<Row[]> {
    return this.#reader.queryFirstPage(statement);
  }

  /**
   * Opens a transaction for reads as of one moment; the caller closes it. Throws StoreUnavailable, also if too many stay open.
   */
  openTransaction(): Promise<ReadTransaction> {
    return this.#reader.openTransaction();
  }

  /** Deletes old rows once an hour. */
  expire(expiry: Expiry): void {
    this.#deletion.expire(expiry);
  }

  /** Deletes the rows that a snapshot has once an hour. */
  cut(cut: Cut): void {
    this.#deletion.cut(cut);
  }

  /** Deletes old rows now, because a new snapshot has them. */
  deleteSoon(): void {
    this.#deletion.deleteSoon();
  }

  /** Stops retries: a server that stops does not wait for a database to come back. */
  stop(): void {
    this.#writer.stop();
    this.#apart?.stop();
    this.#reader.stop();
  }

  async close(): Promise<void> {
    this.#deletion.close();
    await Promise.all([this.#writer.close(), this.#apart?.close()]);
    this.#reader.close();
  }

  /** Creates missing tables and compares shared settings with each connection: a database may have been replaced. */
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
}
