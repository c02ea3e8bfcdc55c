import { randomUUID } from 'node:crypto';
import { type Common, claimCommon } from './common.ts';
import { readPostgresUrl } from './connecting/address.ts';
import type { Connection, Row, Statement } from './connecting/connection.ts';
import { findLastingProblem, toUnavailable } from './connecting/database-errors.ts';
import { Primary } from './connecting/primary.ts';
import { migrate } from './migrations/migrate.ts';
import { openSnapshot, type Snapshot } from './reading/database-snapshot.ts';
import { Reader } from './reading/reader.ts';
import { Turns } from './reading/turns.ts';
import { type Identity, Writer, type WriterObserver } from './writing/change-writer.ts';
import type { Collection } from './writing/gated-collection.ts';
import { type Expiry, Sweep } from './writing/sweep.ts';

/** Long lists that are read at the same time, and first pages of lists. */
const mostSnapshots = 2;
const mostFirstPages = 16;

/** Milliseconds for which the row of an instance that has ended stays. */
const endedMs = 24 * 60 * 60 * 1000;

/** How long requests wait for a database that does not answer, in milliseconds. */
export interface Patience {
  /** Until a change gets 503. */
  changesMs: number;
  /** For which a read is attempted again; the last attempt may take 4 s more. */
  readsMs: number;
}

const usualPatience: Patience = { changesMs: 10_000, readsMs: 5500 };

/** The database that an instance shares with others. */
export class Database {
  /** The UUID of this instance. */
  readonly instance: string;
  readonly #primary: Primary;
  readonly #common: Common;
  readonly #reader: Reader;
  readonly #writer: Writer;
  /** Made when it is first used. */
  #apart: Writer | undefined;
  readonly #createApart: () => Writer;
  readonly #sweep: Sweep;
  readonly #snapshots = new Turns(mostSnapshots);
  readonly #firstPages = new Turns(mostFirstPages);
  readonly #instanceName: string;

  /** Throws an Error, whose message is a clause, for an address that cannot be read. */
  constructor(
    url: string,
    identity: Identity,
    common: Common,
    observer: WriterObserver,
    { changesMs, readsMs }: Patience = usualPatience,
  ) {
    this.instance = identity.instance;
    this.#primary = new Primary(readPostgresUrl(url));
    this.#common = common;
    this.#reader = new Reader(async () => this.#prepare(await this.#primary.connectToRead()), readsMs);
    this.#writer = new Writer(async () => this.#prepare(await this.#primary.connect()), identity, observer, changesMs);
    this.#createApart = () => {
      const ignore = (): void => undefined;
      // A name that no instance has: the list of instances leaves it out.
      const own = { ...identity, instance: randomUUID(), name: '' };
      const open = async () => this.#prepare(await this.#primary.connect());
      return new Writer(open, own, { report: ignore, onCommit: ignore }, changesMs);
    };
    this.#instanceName = identity.name;
    this.#sweep = new Sweep((statement) => this.#reader.query(statement));
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
  }

  /** The name of this instance. */
  get instanceName(): string {
    return this.#instanceName;
  }

  /** Why changes cannot be written at the moment; undefined while they can, or before the first attempt. */
  get failure(): Error | undefined {
    const { failure } = this.#writer;
    return failure === undefined ? undefined : toUnavailable(failure);
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

  /** As `write`, on a connection of its own: whoever waits for these locks keeps no other change waiting. */
  writeApart<Change, Result>(collection: Collection<Change, Result>, change: Change): Promise<Result> {
    this.#apart ??= this.#createApart();
    return this.#apart.write(collection, change);
  }

  /** The rows of a statement; throws StoreUnavailable within 10 s. */
  query(statement: Statement): Promise<Row[]> {
    return this.#reader.query(statement);
  }

  /** As `query`, for the first page of a list, which may be large: only some are read at the same time. */
  async queryFirstPage(statement: Statement): Promise<Row[]> {
    const leave = await this.#firstPages.take();
    return this.#reader.query(statement).finally(leave);
  }

  /** Reads of one moment; the caller closes it. Throws StoreUnavailable, also where others stay open too long. */
  async openSnapshot(): Promise<Snapshot> {
    const leave = await this.#snapshots.take();
    return openSnapshot(async () => this.#prepare(await this.#primary.connect()), leave);
  }

  /** Deletes old rows now and then, from now on. */
  expire(expiry: Expiry): void {
    this.#sweep.add(expiry);
  }

  /** From now on each request is attempted once: a server that stops does not wait for a database to come back. */
  stop(): void {
    this.#writer.stop();
    this.#apart?.stop();
    this.#reader.stop();
  }

  async close(): Promise<void> {
    this.#sweep.close();
    await Promise.all([this.#writer.close(), this.#apart?.close()]);
    this.#reader.close();
  }

  /** With each connection, missing tables are made and what all instances have in common is compared: databases are replaced. */
  async #prepare(connection: Connection): Promise<Connection> {
    try {
      await migrate(connection);
      await claimCommon(connection, this.#common);
      return connection;
    } catch (error) {
      connection.close();
      throw findLastingProblem(error) ?? error;
    }
  }
}
