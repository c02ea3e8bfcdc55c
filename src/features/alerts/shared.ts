import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import type { Parts } from '../../kit/feature.ts';
import { StoreUnavailable, ValueRefusal } from '../../lib/expected-errors.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { Journal } from '../../storage/journal/journal.ts';
import { createId, type LogRecord, type StoredRecord } from '../../storage/journal/line.ts';
import type { DatabaseLog } from '../../storage/postgres/database-log.ts';
import type { NewRecord, Placed, RepeatRowKey } from '../../storage/postgres/record-collection.ts';
import type { ReplacedFile } from '../../storage/replaced-file.ts';
import type { AlertRecord } from './alert.ts';
import { RepeatKeys } from './intake/repeat-keys.ts';
import { AlertIntake, type KeyedAlert, type RepeatParts } from './intake/repeats.ts';

/** Milliseconds after which an alert that is not committed is written to the spool. */
const patienceMs = 1000;

/** When so few lines wait in the spool, new ones wait for them, so that nothing goes past them. */
const lastCount = 1000;

/** Milliseconds between two attempts to ship lines where one fails at once. */
const retryMs = 1000;

interface SharedParts extends RepeatParts {
  /** Learns what fires by what other instances have stored. */
  catchUp(): Promise<void>;
}

/**
 * Stores alerts in the database, or in the spool until they are there. Whether one of the spool repeats another is decided
 * when it is shipped, unless this process has stored an alert with its `Idempotency-Key`.
 */
export class SharedAlerts extends AlertIntake {
  readonly #log: DatabaseLog;
  readonly #catchUp: () => Promise<void>;
  /** Of alerts with an `Idempotency-Key` that this process has stored. */
  protected readonly repeats: RepeatKeys;
  /** Opened with `ship`, and undefined where alerts must not wait on this machine. */
  spool: Spool | undefined;

  constructor(log: DatabaseLog, { catchUp, ...parts }: SharedParts) {
    super(parts);
    this.#log = log;
    this.#catchUp = catchUp;
    this.repeats = new RepeatKeys(parts.clock);
  }

  /** Stores lines of the spool. Resolves when they are committed, except those of which the database does not take a value. */
  async ship(lines: readonly StoredRecord[]): Promise<void> {
    try {
      await this.#shipAll(lines);
    } catch (error) {
      if (!(error instanceof ValueRefusal)) throw error;
      // The writer has reported it; the others must not wait for it.
      if (lines.length === 1) return;
      const half = Math.ceil(lines.length / 2);
      await this.ship(lines.slice(0, half));
      await this.ship(lines.slice(half));
    }
  }

  async #shipAll(lines: readonly StoredRecord[]): Promise<void> {
    const rows = lines.map(({ of, record, key }) => ({
      ...this.#log.toNew(record as LogRecord, key as RepeatRowKey | undefined),
      id: of as string,
    }));
    // Another instance may have stored the first one.
    this.#remember(rows, await this.#log.add(rows, true));
  }

  /** The spool does not know what others store, so an alert with an `Idempotency-Key`, which comes alone, waits for those before it. */
  protected place(alerts: readonly KeyedAlert[]): Promise<Placed[]> {
    const names = alerts.flatMap(({ key }) => (key?.isOnce ? [key.hash] : []));
    return names.length === 0 ? this.#placeNow(alerts) : this.inTurn.run(names, () => this.#placeNow(alerts));
  }

  async #placeNow(alerts: readonly KeyedAlert[]): Promise<Placed[]> {
    // Resolved alerts name the ones that they end, which another instance may have stored just now.
    const canRead = this.#log.state().healthy && this.spool?.isUsed !== true;
    const hasEnds = alerts.some(({ record: { status } }) => status === 'resolved');
    if (canRead && hasEnds) await awaitWithin(patienceMs, this.#catchUp());
    const ids = alerts.map(() => createId());
    const records = this.link(
      alerts.map(({ record }) => record),
      ids,
    );
    const rows = records.map((record, index) => this.#log.toNew(record, this.#toRowKey(alerts[index]), ids[index]));
    await this.spool?.hold;
    const placed = await (this.spool ? this.#storeOrSpool(this.spool, records, rows) : this.#log.add(rows));
    this.#remember(rows, placed);
    return placed;
  }

  #toRowKey(alert: KeyedAlert | undefined): RepeatRowKey | undefined {
    return alert?.key && { ...alert.key, remindAfterMs: this.remindAfterMs(alert) };
  }

  /** Writes what cannot be committed now to the spool; it may be committed nevertheless. */
  async #storeOrSpool(spool: Spool, records: readonly AlertRecord[], rows: readonly NewRecord[]): Promise<Placed[]> {
    const canStore = !spool.isUsed && this.#log.state().healthy;
    const placed = canStore && (await awaitWithin(patienceMs, this.#log.add(rows).catch(passIfUnavailable)));
    if (placed) return placed;
    const [key] = rows.map((row) => row.key);
    const first = key?.isOnce ? this.findFirst(key) : undefined;
    if (first) return [{ id: first.id, seq: undefined, isRepeat: true }];
    await spool.add(rows.map(({ id, key }, index) => ({ record: records[index], of: id, ...(key && { key }) })));
    return rows.map(({ id }) => ({ id, seq: undefined, isRepeat: false }));
  }

  /** Keeps which alerts came with an `Idempotency-Key`. */
  #remember(rows: readonly NewRecord[], placed: readonly Placed[]): void {
    const storedAt = this.parts.clock().getTime();
    for (const [index, { key }] of rows.entries()) {
      const { id = '' } = placed[index] ?? {};
      if (key?.isOnce) this.repeats.remember(key.hash, { state: key.state, id, storedAt });
    }
  }
}

const passIfUnavailable = (error: unknown): undefined => {
  if (!(error instanceof StoreUnavailable)) throw error;
};

interface SpoolParts extends Pick<Parts, 'storage' | 'log'> {
  segmentBytes: number;
  minFreeBytes: number;
  sync: boolean;
  /** Whether shipping can work now. */
  canShip(): boolean;
  /** Stores lines elsewhere, in order; is called with some again after a crash. They are in a queue when it returns. */
  ship(lines: readonly StoredRecord[]): Promise<unknown>;
}

/**
 * Lines on the disk of this machine that wait until they can be stored elsewhere. The number of the last line that was
 * shipped is in a small file of its own; files of the log whose lines were all shipped are deleted.
 */
export class Spool {
  readonly #parts: SpoolParts;
  readonly #journal: Journal;
  readonly #position: ReplacedFile;
  readonly #closing = new AbortController();
  /** The last lines that are stored elsewhere, and that are in the queue for that. */
  #shipped: number;
  #submitted: number;
  /** The last line that is on disk, and how many groups are being written. */
  #written: number;
  #pending = 0;
  #loop: Promise<void> | undefined;
  /** Set while the last lines are put into the queue; to be awaited before new ones are. */
  hold: Promise<void> | undefined;

  private constructor(parts: SpoolParts, journal: Journal, position: ReplacedFile, shipped: number) {
    this.#parts = parts;
    this.#journal = journal;
    this.#position = position;
    this.#shipped = shipped;
    this.#submitted = shipped;
    this.#written = journal.state().lastSeq;
    journal.onStored((lastSeq) => {
      this.#written = lastSeq;
    });
  }

  /** Begins to ship what an earlier process has left. Throws a SettingsError if the data directory cannot be used. */
  static async open(parts: SpoolParts): Promise<Spool> {
    const { storage, segmentBytes, minFreeBytes, sync } = parts;
    // Every closed file may be deleted that is not held; that is checked once an hour, too.
    const retention = { awaitsHold: true, retainBytes: 1, retainDays: 1 };
    const name = 'alerts-spool';
    const journal = await storage.log(name, { title: 'alert spool', segmentBytes, minFreeBytes, sync, ...retention });
    const position = storage.file(`${name}.shipped`);
    const known = Number(String((await position.read()) ?? '0'));
    // The log may have been deleted.
    const shipped = Math.min(Number.isSafeInteger(known) ? known : 0, journal.state().lastSeq);
    const spool = new Spool(parts, journal, position, shipped);
    await journal.holdFrom(
      () => spool.#shipped,
      Number.POSITIVE_INFINITY,
      () => undefined,
    );
    spool.#start();
    return spool;
  }

  /** Whether lines wait, so that later ones must too. */
  get isUsed(): boolean {
    return this.#pending > 0 || this.waiting > 0;
  }

  /** How many lines are not known to be stored elsewhere, with those that are in the queue for that. */
  get unshipped(): number {
    return this.#written - this.#shipped;
  }

  /** How many lines wait to be put into the queue. */
  get waiting(): number {
    return this.#written - this.#submitted;
  }

  get isHealthy(): boolean {
    return this.#journal.state().healthy;
  }

  /** Resolves when all lines are on disk; rejects with a JournalError if they may not be. */
  async add(lines: readonly LogRecord[]): Promise<void> {
    this.#pending += 1;
    try {
      await this.#journal.appendAll(lines);
    } finally {
      this.#pending -= 1;
      this.#start();
    }
  }

  /** Lines that wait are shipped after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#journal.close();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #start(): void {
    if (this.#isClosed || this.waiting === 0) return;
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
      this.#start();
    });
  }

  async #run(): Promise<void> {
    const { log, canShip } = this.#parts;
    const first = this.#shipped;
    log.warn('alert spool: alerts wait on disk for the database');
    while (!this.#isClosed && this.waiting > 0) {
      const begun = performance.now();
      try {
        if (canShip() && this.waiting <= lastCount) await this.#shipLast();
        else await this.#shipAll();
      } catch (err) {
        if (this.#isClosed) return;
        log.debug({ err }, 'alert spool: not shipped');
        const left = Math.max(0, begun + retryMs - performance.now());
        await pause(left, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
    if (!this.#isClosed) log.info({ alerts: this.#shipped - first }, 'alert spool: the alerts are in the database');
  }

  async #shipAll(): Promise<void> {
    const end = this.#written;
    for await (const lines of this.#journal.readAfter(this.#shipped)) await this.#ship(lines, lines.at(-1)?.seq ?? end);
    // Damaged lines are skipped.
    if (this.#shipped < end) await this.#ship([], end);
  }

  /** Ships all lines that wait. New ones wait until they are in the queue, so a busy instance finds an end, too. */
  async #shipLast(): Promise<void> {
    let release = (): void => undefined;
    this.hold = new Promise((resolve) => {
      release = resolve;
    });
    let shipping: Promise<void> | undefined;
    try {
      while (this.#pending > 0) await setImmediate();
      const lines: StoredRecord[] = [];
      const end = this.#written;
      for await (const some of this.#journal.readAfter(this.#shipped)) lines.push(...some);
      shipping = this.#ship(lines, end);
    } finally {
      this.hold = undefined;
      release();
    }
    await shipping;
  }

  /** Ships lines, of which `end` is the last. */
  async #ship(lines: readonly StoredRecord[], end: number): Promise<void> {
    this.#submitted = end;
    try {
      await this.#parts.ship(lines);
      this.#shipped = end;
      // After a failure here some are shipped again.
      await this.#position.write(Buffer.from(String(end))).catch(() => undefined);
    } catch (error) {
      this.#submitted = this.#shipped;
      throw error;
    }
  }
}
