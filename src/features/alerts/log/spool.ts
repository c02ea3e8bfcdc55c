import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import type { Parts } from '../../../kit/feature.ts';
import type { Journal } from '../../../storage/journal/journal.ts';
import type { LogRecord, StoredRecord } from '../../../storage/journal/line.ts';
import type { ReplacedFile } from '../../../storage/replaced-file.ts';

/**
 * Number of waiting lines below which new alerts wait for the spool. This allows even a busy instance to empty the
 * spool.
 */
const lastCount = 1000;

/** Milliseconds between attempts to ship lines. */
const retryMs = 1000;

interface SpoolParts extends Pick<Parts, 'storage' | 'log'> {
  segmentBytes: number;
  minFreeBytes: number;
  sync: boolean;
  /** True while the database is available. */
  canShip(): boolean;
  /**
   * Stores lines in the database in order. All lines have been queued when this returns. After a crash, the same lines
   * may be passed again.
   */
  ship(lines: readonly StoredRecord[]): Promise<unknown>;
}

/**
 * Alerts that wait on this machine's disk for the database. A small file contains the seq of the last shipped line. A
 * log file is deleted once all of its lines have been shipped.
 */
export class Spool {
  readonly #parts: SpoolParts;
  readonly #journal: Journal;
  readonly #position: ReplacedFile;
  readonly #closing = new AbortController();
  /** Seqs of the last line that the database has stored, and of the last line queued for the database. */
  #shipped: number;
  #submitted: number;
  /** Seq of the last line on disk, and number of unfinished writes. */
  #written: number;
  #pending = 0;
  #loop: Promise<void> | undefined;
  #positionWrite: Promise<void> | undefined;
  /** Set while the last lines are being queued. Await it before queuing other alerts. */
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

  /**
   * Opens the spool and ships the lines of earlier processes. Throws a SettingsError if the data directory is unusable.
   */
  static async open(parts: SpoolParts): Promise<Spool> {
    const { storage, segmentBytes, minFreeBytes, sync } = parts;
    // Retention deletes every closed file that has no hold within an hour.
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

  /** True while lines are waiting. New alerts must then wait behind these lines. */
  get isUsed(): boolean {
    return this.#pending > 0 || this.waiting > 0;
  }

  /** Number of lines that may not be in the database yet. */
  get unshipped(): number {
    return this.#written - this.#shipped;
  }

  /** Number of lines not yet queued. */
  get waiting(): number {
    return this.#written - this.#submitted;
  }

  get isHealthy(): boolean {
    return this.#journal.state().healthy;
  }

  /** Resolves once the lines are on disk. Rejects with a JournalError if lines may be lost. */
  async add(lines: readonly LogRecord[]): Promise<void> {
    this.#pending += 1;
    try {
      await this.#journal.appendAll(lines);
    } finally {
      this.#pending -= 1;
      this.#start();
    }
  }

  /** Closes the spool. Waiting lines are shipped after the next startup. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#positionWrite;
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
    log.warn('alert spool: alerts are waiting on disk for the database');
    while (!this.#isClosed && this.waiting > 0) {
      const begun = performance.now();
      try {
        if (canShip() && this.waiting <= lastCount) await this.#shipLast();
        else await this.#shipAll();
      } catch (err) {
        if (this.#isClosed) return;
        log.debug({ err }, 'alert spool: alerts could not be moved to the database');
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

  /** Ships all lines. Holds new alerts back until the lines have been queued. */
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

  /** Ships lines up to the seq in `end`. */
  async #ship(lines: readonly StoredRecord[], end: number): Promise<void> {
    this.#submitted = end;
    try {
      await this.#parts.ship(lines);
      this.#shipped = end;
      // Without this write, some lines are shipped again after a restart, and the database recognizes them.
      if (this.#isClosed) return;
      this.#positionWrite = this.#position.write(Buffer.from(String(end))).catch(() => undefined);
      await this.#positionWrite;
    } catch (error) {
      this.#submitted = this.#shipped;
      throw error;
    }
  }
}
