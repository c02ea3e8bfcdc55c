import { createSerial } from '../../lib/scheduling.ts';
import { dayMs, MiB } from '../../lib/units.ts';
import { JournalError } from '../journal/errors.ts';
import { createId, isFeatureEvent, type LogRecord, type Match, type StoredRecord } from '../journal/line.ts';
import { type Indexing, maxGroupBytes } from '../journal/options.ts';
import type { Listing } from '../journal/read/listing.ts';
import type { Counting, Search, SearchResult } from '../journal/read/search.ts';
import type { Appended } from '../journal/writer.ts';
import { rememberedMs } from '../recent-entries.ts';
import type { FollowedLog, LastRecord, RecordLog, RecordLogState, Release } from '../record-log.ts';
import type { Collection } from './batch.ts';
import type { Database } from './database.ts';
import { type FollowedTables, readFollowed } from './followed-rows.ts';
import {
  createRecordCollection,
  type NewRecord,
  type Placed,
  type RecordChange,
  type RowRepeatId,
  toEventTable,
} from './record-collection.ts';
import { countTable, listTable, parseRow, readPage, searchTable, toLevel } from './record-search.ts';

/** Milliseconds between queries for records of other instances. */
const pollMs = 1000;

/** Minimum milliseconds for which events are kept. During that time, actions can be looked up. */
const eventsKeptMs = dayMs;

/** Name of the lease for writing the snapshots of the projection of feature events. */
export const eventsLease = 'incidents';

/** Maximum size of a body in bytes. A journal line can hold such a body. */
const maxBodyBytes = 2 * MiB - 1024;

interface DatabaseLogOptions {
  database: Database;
  table: 'alert' | 'audit' | 'setting' | 'heartbeat' | 'availability' | 'status_page';
  /** Name of the instance that stores the records. By default, the name that the database has for this instance. */
  instance?: string;
  clock: () => Date;
  /**
   * Functions that return the time and level of a record. By default, the time is that of storing, and there is no
   * level.
   */
  indexing?: Pick<Indexing, 'timeOf' | 'keyOf'>;
  /** Returns the number of days for which records are kept. 0 keeps all. Called before each deletion. */
  retainDays(): number | Promise<number>;
  /** True if records may be deleted once a snapshot contains them. */
  hasSnapshot?: boolean;
  /**
   * True if a second table has feature events. A projection folds `events`, and rows stay until its snapshot contains
   * them.
   */
  hasEvents?: boolean;
  /** Maximum number of waiting records. Further records are refused. */
  queueCount?: number;
  /** Maximum size in bytes of waiting records. */
  queueBytes?: number;
}

/** Log in a table that instances share. */
export class DatabaseLog implements RecordLog {
  readonly #options: DatabaseLogOptions;
  readonly #instance: string;
  readonly #collection: Collection<RecordChange, Placed[]>;
  readonly #listeners = new Set<(lastSeq: number) => void>();
  readonly #lostListeners = new Set<() => void>();
  /** Tables with seqs from the same sequence. */
  readonly #tables: readonly [string, ...string[]];
  /** Damages reported so far. */
  readonly #damages = new Set<string>();
  /** Holds set by projections. */
  readonly #holds = new Set<() => number>();
  /** Last stored record. Its id may be unknown. */
  #last: LastRecord | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #pollSerially = createSerial();
  #nextPoll: Promise<void> | undefined;
  #waitingCount = 0;
  #waitingBytes = 0;

  private constructor(options: DatabaseLogOptions) {
    const { database, table, instance = database.instanceName, clock, retainDays, hasEvents } = options;
    this.#options = options;
    this.#instance = instance;
    this.#tables = hasEvents ? [table, toEventTable(table)] : [table];
    this.#collection = createRecordCollection(table, instance, clock);
    const expiry = { at: { milliseconds: 'at' }, clock } as const;
    const keptMs = async () => ((await retainDays()) || Number.POSITIVE_INFINITY) * dayMs;
    const covered = hasEvents ? { projection: table, onWaiting: () => this.#askHolds() } : undefined;
    database.expire({ ...expiry, table, key: 'seq', keptMs, covered });
    if (hasEvents) {
      database.expire({ ...expiry, table: toEventTable(table), key: 'seq', keptMs: eventsKeptMs, covered });
    }
    if (table === 'alert') database.expire({ ...expiry, table: 'repeat', key: 'hash', keptMs: rememberedMs });
  }

  /** Opens the log. Reads the last seq if the database is available. */
  static async open(options: DatabaseLogOptions): Promise<DatabaseLog> {
    const log = new DatabaseLog(options);
    if (await options.database.isReady()) await log.refresh();
    return log;
  }

  async append(record: LogRecord): Promise<Appended> {
    const [appended] = await this.appendAll([record]);
    return appended as Appended;
  }

  /** Appends records. Without records, checks that records can be stored. */
  appendAll(records: readonly LogRecord[], ids?: readonly string[]): Promise<Appended[]> {
    const rows = records.map((record, index) => this.toNew(record, undefined, ids?.[index]));
    return this.add(rows) as Promise<Appended[]>;
  }

  /** Log that includes feature events. */
  get events(): FollowedLog {
    const { database, table } = this.#options;
    return {
      appendAll: (records, ids) => this.appendAll(records, ids),
      readAfter: (seq, last) => this.#follow({ wanted: this.#tables, projection: table }, seq, last),
      onStored: (listener) => this.onStored(listener),
      onLost: (listener) => this.onLost(listener),
      holdFrom: async (from) => {
        this.#holds.add(from);
        return () => database.deleteSoon();
      },
      state: () => this.state(),
    };
  }

  /** Returns the row of a record, by default with a new id. */
  toNew(record: LogRecord, key?: RowRepeatId, id = createId()): NewRecord {
    const { indexing, clock, hasEvents } = this.#options;
    if (hasEvents && isFeatureEvent(record)) {
      return { id, at: clock().getTime(), level: null, body: JSON.stringify(record), isEvent: true };
    }
    const at = indexing?.timeOf(record) ?? clock().getTime();
    const level = toLevel(indexing?.keyOf(record));
    return { id, at, level, body: JSON.stringify(record), key };
  }

  /**
   * Stores either all rows or none. Leaves out repeats. Rejects with a JournalError (`queue-full`, `too-large`) or
   * StoreUnavailable. Rejects with a RepeatRefusal unless the records have been acknowledged.
   */
  async add(records: readonly NewRecord[], isAcknowledged = false): Promise<Placed[]> {
    const { database, queueCount = 10_000, queueBytes = Number.POSITIVE_INFINITY } = this.#options;
    const bytes = isAcknowledged ? 0 : countBytes(records);
    const isFull = this.#waitingCount + records.length > queueCount || this.#waitingBytes + bytes > queueBytes;
    // A group that exceeds the limits is accepted if nothing else is waiting.
    if (!isAcknowledged && this.#waitingCount > 0 && isFull) {
      throw new JournalError('queue-full', 'too many records are waiting for the database');
    }
    this.#waitingCount += records.length;
    this.#waitingBytes += bytes;
    try {
      const placed = await database.write(this.#collection, { records, isAcknowledged });
      const last = placed.findLast(({ seq }) => seq !== undefined);
      // A reminder has its own id.
      if (last?.seq !== undefined) this.#note({ seq: last.seq, id: last.isRepeat ? undefined : last.id });
      return placed;
    } finally {
      this.#waitingCount -= records.length;
      this.#waitingBytes -= bytes;
    }
  }

  listLast(count: number, match?: Match): Promise<Listing> {
    return listTable(this.#options.database, this.#options.table, count, match);
  }

  readAfter(seq: number, last?: LastRecord): AsyncGenerator<StoredRecord[]> {
    const { table, hasSnapshot } = this.#options;
    return this.#follow({ wanted: [table], projection: hasSnapshot ? table : undefined }, seq, last);
  }

  /** Reads the records stored by this instance. */
  async *readOwnAfter(seq: number): AsyncGenerator<StoredRecord[]> {
    const { database, table } = this.#options;
    for (let after = seq; ; ) {
      const rows = await readPage(database, { table, from: { after }, where: { instance: this.#instance } });
      if (rows.length === 0) return;
      yield rows.map(parseRow);
      after = rows.at(-1).seq;
    }
  }

  isOwn({ instance }: LogRecord): boolean {
    return instance === this.#instance;
  }

  search(search: Search): Promise<SearchResult> {
    return searchTable(this.#options.database, this.#options.table, search);
  }

  async find(id: string): Promise<StoredRecord | undefined> {
    const { database, table } = this.#options;
    const text = `SELECT seq, id, instance, body FROM signalbox.${table} WHERE id = $1`;
    const [row] = await database.query({ text, values: [id] });
    return row && parseRow(row);
  }

  countByMinute(counting: Counting): Promise<boolean> {
    return countTable(this.#options.database, this.#options.table, counting);
  }

  /** Calls the listener when records are stored: for records of other instances, within about a second. */
  onStored(listener: (lastSeq: number) => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.refresh(), pollMs).unref();
    return () => void this.#listeners.delete(listener);
  }

  onLost(listener: () => void): () => void {
    this.#lostListeners.add(listener);
    return () => void this.#lostListeners.delete(listener);
  }

  /** Does nothing, because other instances delete rows by age without regard to the needs of this instance. */
  async holdFrom(): Promise<Release> {
    await undefined;
    return () => undefined;
  }

  state(): RecordLogState {
    const { failure } = this.#options.database;
    return { healthy: !failure, failure, lastSeq: this.#last?.seq };
  }

  /** Reads the last seq. Does nothing while the database cannot be used. */
  refresh(): Promise<void> {
    this.#nextPoll ??= this.#pollSerially(async () => {
      this.#nextPoll = undefined;
      await this.#poll().catch(() => undefined);
    });
    return this.#nextPoll;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await undefined;
  }

  async *#follow(
    followed: Omit<FollowedTables, 'tables'>,
    seq: number,
    last?: LastRecord,
  ): AsyncGenerator<StoredRecord[]> {
    const tables: FollowedTables = { ...followed, tables: this.#tables };
    for await (const records of readFollowed(this.#options.database, tables, seq, last, (damage) =>
      this.#report(damage),
    )) {
      const end = records.at(-1);
      if (end) this.#note({ seq: end.seq, id: end.id });
      yield records;
    }
  }

  async #poll(): Promise<void> {
    const { database, table } = this.#options;
    const known = this.#last;
    const ids = this.#tables.map((one) => `SELECT id FROM signalbox.${one} WHERE seq = last_id`).join(' UNION ALL ');
    const text = `SELECT last_id AS seq, (${ids}) AS id FROM signalbox.gate WHERE name = $1`;
    const [row] = await database.query({ text, values: [table] });
    const found: LastRecord = { seq: row.seq, id: row.id ?? undefined };
    // The response may lack records that this instance has stored in the meantime.
    if (known && known === this.#last && isOther(found, known)) {
      this.#last = found;
      for (const listener of this.#lostListeners) listener();
    } else this.#note(found);
  }

  #note(last: LastRecord): void {
    const { seq: known = -1 } = this.#last ?? {};
    if (last.seq < known) return;
    this.#last = last;
    if (last.seq > known) for (const listener of this.#listeners) listener(last.seq);
  }

  #report(damage: string): void {
    if (this.#damages.has(damage)) return;
    this.#damages.add(damage);
    this.#options.database.reportDamage(damage);
  }

  /** Makes the projections write the snapshots that rows wait for before they can be deleted. */
  #askHolds(): void {
    for (const from of this.#holds) from();
  }
}

/** True if the known record was lost: the log ends before its seq, or another record has its seq. */
const isOther = (found: LastRecord, known: LastRecord): boolean =>
  found.seq < known.seq ||
  (found.seq === known.seq && found.id !== undefined && known.id !== undefined && found.id !== known.id);

/**
 * Returns the total size of the bodies in bytes. Throws a JournalError with the code `too-large` if a body is too
 * large.
 */
const countBytes = (records: readonly NewRecord[]): number => {
  const lengths = records.map(({ body }) => Buffer.byteLength(body));
  const sum = lengths.reduce((total, length) => total + length, 0);
  if (lengths.some((length) => length > maxBodyBytes)) {
    throw new JournalError('too-large', `a record must not exceed ${maxBodyBytes} bytes`);
  }
  if (sum <= maxGroupBytes) return sum;
  throw new JournalError('too-large', `records that are stored together must not exceed ${maxGroupBytes} bytes`);
};
