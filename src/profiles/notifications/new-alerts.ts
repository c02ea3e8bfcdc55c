import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import { createSerial } from '../../storage/journal/scheduling.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { Progress } from './progress.ts';
import type { Accepts } from './settings.ts';
import { toWaiting, type WaitingAlerts } from './waiting.ts';

/** Where the log has a longer row of alerts that are settled, reading starts again behind it. */
const longRow = 1000;

interface NewAlertsParts {
  alerts: Pick<RecordLog, 'readAfter'>;
  accepts: Accepts;
  progress: Progress;
  waiting: WaitingAlerts;
  onRead(records: readonly StoredRecord[]): void;
}

/** Reads the log forward, adds alerts to those that wait, and settles those that are not for the destination. */
export class NewAlerts {
  readonly #parts: NewAlertsParts;
  /** The last alert that was looked at. */
  #position = 0;
  /** Set while reading is to go on from an earlier place. */
  #goesBackTo: number | undefined;
  #isStopped = false;

  constructor(parts: NewAlertsParts) {
    this.#parts = parts;
  }

  /** Reads to the end of the log, whose last alert is `end`, or until no more may wait; resolves to whether it has read. */
  async read(end: number): Promise<boolean> {
    let hasRead = false;
    while (!this.#isDone) {
      this.#position = Math.min(this.#position, this.#goesBackTo ?? this.#position);
      this.#goesBackTo = undefined;
      const from = this.#parts.progress.nextOpen(this.#position) - 1;
      if (from >= end) break;
      hasRead = true;
      this.#position = from;
      if (await this.#readFrom(from)) this.#skipTo(Math.max(end, this.#position) + 1);
    }
    return hasRead;
  }

  /** These alerts wait again, so they are looked at again. */
  goBack(seqs: readonly number[]): void {
    for (const seq of seqs) this.#goesBackTo = Math.min(this.#goesBackTo ?? seq, seq - 1);
  }

  stop(): void {
    this.#isStopped = true;
  }

  get #isDone(): boolean {
    return this.#isStopped || this.#parts.waiting.isFull;
  }

  /** Resolves to whether the end of the log was reached. */
  async #readFrom(seq: number): Promise<boolean> {
    const { alerts, progress, onRead } = this.#parts;
    for await (const records of alerts.readAfter(seq)) {
      onRead(records);
      for (const record of records) {
        this.#take(record);
        if (this.#isDone || this.#goesBackTo !== undefined) return false;
      }
      if (progress.nextOpen(this.#position) - this.#position > longRow) return false;
    }
    return true;
  }

  #take(record: StoredRecord): void {
    const { progress, waiting, accepts } = this.#parts;
    const { seq, id } = record;
    if (seq <= this.#position) return;
    this.#skipTo(seq);
    this.#position = seq;
    if (progress.isSettled(seq) || waiting.has(seq)) return;
    const { attempts = 0, again } = progress.triedOf(seq) ?? {};
    // In a new log, another alert may have the seq.
    if (again && again.id !== id) progress.lose(seq, seq);
    else if (accepts(record)) waiting.add(toWaiting(record, attempts));
    else progress.settle(seq);
  }

  /** The log has no alerts from the position to the one before this. */
  #skipTo(seq: number): void {
    const first = this.#position + 1;
    if (first < seq) this.#parts.progress.lose(first, seq - 1);
    this.#position = seq - 1;
  }
}

/** Reads single records of the log. Those that were last read together stay in memory, because they are often next. */
export class RecordReader {
  readonly #alerts: Pick<RecordLog, 'readAfter'>;
  readonly #serially = createSerial();
  #records = new Map<number, StoredRecord>();

  constructor(alerts: Pick<RecordLog, 'readAfter'>) {
    this.#alerts = alerts;
  }

  /** Keeps records that were read together. */
  keep(records: readonly StoredRecord[]): void {
    this.#records = new Map(records.map((record) => [record.seq, record]));
  }

  /** The record, or undefined if it is not in the log. */
  async read(seq: number): Promise<StoredRecord | undefined> {
    return this.#records.get(seq) ?? this.#serially(() => this.#readFrom(seq));
  }

  async #readFrom(seq: number): Promise<StoredRecord | undefined> {
    // An attempt before this one may have read it.
    const known = this.#records.get(seq);
    if (known) return known;
    for await (const records of this.#alerts.readAfter(seq - 1)) {
      this.keep(records);
      break;
    }
    return this.#records.get(seq);
  }
}

export const defaultRepeatMinutes = 240;

/** Which records of alerts that come again are sent: those that come long enough after the one that was sent last. */
export class Reminders {
  readonly #progress: Progress;
  readonly #clock: () => Date;
  readonly #afterMs: number;

  constructor(progress: Progress, clock: () => Date, repeatMinutes = defaultRepeatMinutes) {
    this.#progress = progress;
    this.#clock = clock;
    this.#afterMs = repeatMinutes * 60_000;
  }

  /** Whether the destination may get the record at all. */
  mayWant({ repeatOf }: StoredRecord): boolean {
    return repeatOf === undefined || this.#afterMs > 0;
  }

  /** Whether the record is to be sent now. */
  isDue(record: StoredRecord): boolean {
    const { repeatOf } = record;
    if (repeatOf === undefined) return true;
    const passed = this.#clock().getTime() - (this.#progress.sentAt(String(repeatOf)) ?? 0);
    // The clock was ahead when the last one was sent, or some time has passed.
    return this.mayWant(record) && (passed < 0 || passed >= Math.floor(this.#afterMs));
  }

  /** The record was delivered. */
  note({ id, repeatOf, fingerprint }: StoredRecord): void {
    if (fingerprint === undefined) return;
    this.#progress.noteSent(typeof repeatOf === 'string' ? repeatOf : id, this.#clock().getTime());
  }
}
