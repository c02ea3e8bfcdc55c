import { randomUUID } from 'node:crypto';
import { awaitWithin } from '../../lib/scheduling.ts';
import { dayMs } from '../../lib/units.ts';
import { readPostgresUrl } from './address.ts';
import type { Collection } from './batch.ts';
import { ChangeWriter, type Identity, type WriterObserver } from './change-writer.ts';
import { type Connection, Primary, type Row, type Statement } from './connection.ts';
import { findPermanentProblem, toDatabaseUnavailable } from './database-errors.ts';
import { DatabaseReader, type ReadTransaction } from './reader.ts';
import { type Cut, type Expiry, RowDeletion } from './row-deletion.ts';
import { type Common, claimCommon, migrate } from './schema.ts';

/** Milliseconds until the row of a stopped instance is deleted. */
const endedMs = dayMs;

/**
 * Milliseconds until the lease of a vanished machine or instance is deleted. Until then, the lease shows when it was
 * last held.
 */
const leaseKeptMs = 30 * dayMs;

/** Total milliseconds for final messages during shutdown. These messages are not essential. */
const farewellsMs = 250;

/** Limits, in milliseconds, for requests that wait for an unresponsive database. */
export interface Patience {
  /** Milliseconds after which a waiting change is refused with a 503. */
  changesMs: number;
  /** Milliseconds after which a read is no longer retried. The last attempt may take another 4 s. */
  readsMs: number;
}

const defaultPatience: Patience = { changesMs: 10_000, readsMs: 5500 };

/** Database that instances share. */
export class Database {
  /** UUID of this instance. */
  readonly instance: string;
  readonly instanceName: string;
  readonly #primary: Primary;
  readonly #common: Common;
  readonly #observer: WriterObserver;
  readonly #reader: DatabaseReader;
  readonly #writer: ChangeWriter;
  /** Writer for `writeApart`. Created on first use. */
  #apart: ChangeWriter | undefined;
  readonly #createApart: () => ChangeWriter;
  /** Milliseconds left for final messages. */
  #farewellMs = farewellsMs;
  readonly #deletion = new RowDeletion((statement) => this.query(statement));

  /** Opens the database lazily. Throws an Error for an invalid address. The message is a clause. */
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
      // Instances without a name do not appear in the list of instances.
      const own = { ...identity, instance: randomUUID(), name: '' };
      return new ChangeWriter(open, own, { report: ignore, onRefused: ignore, onCommit: ignore }, changesMs);
    };
  }

  /** Throws a PermanentProblem if the database must be changed before signalbox can use it. Rethrows other errors. */
  async check(): Promise<void> {
    try {
      const connection = await this.#prepare(await this.#primary.connect());
      connection.close();
    } catch (error) {
      throw findPermanentProblem(error) ?? error;
    }
  }

  /** Registers this instance. */
  begin(): void {
    this.#writer.begin();
    const clock = () => new Date();
    this.expire({ table: 'writer', key: 'instance', at: { timestamp: 'seen_at' }, keptMs: endedMs, clock });
    this.expire({ table: 'lease', key: 'name', at: { timestamp: 'until' }, keptMs: leaseKeptMs, clock });
  }

  /** Error of the last write. Undefined while changes are stored, and before the first attempt. */
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

  /** Resolves to the result of the committed change. Rejects with its refusal, or with StoreUnavailable within 10 s. */
  write<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    return this.#writer.write(collection, change);
  }

  /**
   * Writes on a separate connection, so that waiting for a lock does not delay other changes. Otherwise works like
   * `write`, but does not report refused values.
   */
  writeApart<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    this.#apart ??= this.#createApart();
    return this.#apart.write(collection, change);
  }

  /** Logs an unreadable record. */
  reportDamage(damage: string): void {
    this.#observer.onDamage?.(damage);
  }

  /** Resolves to the rows of a statement. Rejects with StoreUnavailable within 10 s. */
  query(statement: Statement): Promise<Row[]> {
    return this.#reader.query(statement);
  }

  /** Queries the first page of a list. Only a few first pages are read at a time, because pages may be large. */
  queryFirstPage(statement: Statement): Promise<Row[]> {
    return this.#reader.queryFirstPage(statement);
  }

  /**
   * Opens a transaction that reads a consistent snapshot. The caller must close it. Rejects with StoreUnavailable if
   * the database cannot be used or too many transactions are open.
   */
  openTransaction(): Promise<ReadTransaction> {
    return this.#reader.openTransaction();
  }

  /** Deletes old rows hourly. */
  expire(expiry: Expiry): void {
    this.#deletion.expire(expiry);
  }

  /** Deletes the rows that a snapshot contains, once an hour. */
  cut(cut: Cut): void {
    this.#deletion.cut(cut);
  }

  /** Deletes old rows now. Called when a new snapshot contains them. */
  deleteSoon(): void {
    this.#deletion.deleteSoon();
  }

  /** Stops retrying, because a server that is stopping must not wait for the database to return. */
  stop(): void {
    this.#writer.stop();
    this.#apart?.stop();
    this.#reader.stop();
  }

  /** Waits for a final message that is not essential. An unresponsive database delays shutdown only once. */
  async waitForFarewell(message: Promise<void>): Promise<void> {
    const begun = performance.now();
    await awaitWithin(this.#farewellMs, message);
    this.#farewellMs = Math.max(0, this.#farewellMs - (performance.now() - begun));
  }

  async close(): Promise<void> {
    this.#deletion.close();
    await Promise.all([this.#writer.close(), this.#apart?.close()]);
    this.#reader.close();
  }

  /**
   * Creates missing tables and compares shared settings. Runs on each connection, because the database may have been
   * replaced.
   */
  async #prepare(connection: Connection): Promise<Connection> {
    try {
      await migrate(connection, this.#observer.onMigrated);
      await claimCommon(connection, this.#common);
      return connection;
    } catch (error) {
      connection.close();
      throw findPermanentProblem(error) ?? error;
    }
  }
}
