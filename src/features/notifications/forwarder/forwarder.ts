import { toTrace } from '../../../http/text-forms.ts';
import type { AlertDelivery } from '../../../kit/offers.ts';
import { awaitWithin } from '../../../lib/scheduling.ts';
import { Slice } from '../../../lib/slice.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { Sender } from '../destinations/sender.ts';
import { toDelivered } from '../destinations/type.ts';
import { BaseDestination, type BaseParts, unexpectedWaitMs } from '../queue/destination.ts';
import type { DeliveryOutcome, FailedOutcome } from '../queue/receiver.ts';
import { isPromiseOver, noteFailure, toGivenUp } from '../queue/retries.ts';
import { type QueuedAlert, ReadRecords, readAlertsFrom, toWaiting, WaitingAlerts } from '../queue/waiting.ts';
import type { Accepts } from './filter.ts';
import { bySeq } from './progress.ts';

/** A request that takes longer than this does not hold back others, up to so many at a time. */
const slowMs = 1000;
export const mostRequests = 8;

/** Milliseconds that the alert that another one ends may take to be found. */
const patienceMs = 2000;

/** A timer with more milliseconds would end at once. */
const longestMs = 2 ** 31 - 1;

const defaultRepeatMinutes = 240;

interface DestinationParts extends BaseParts {
  instance: string;
  /** The same for all instances that share a database. */
  origin: string;
  accepts: Accepts;
  alerts: Pick<RecordLog, 'readAfter'>;
  /** Finds an alert of the log by its id. */
  findAlert: RecordLog['find'];
  sender: Sender;
  /** Called after each delivery. */
  onDelivered(destination: Destination): void;
}

/** Sends the alerts of the log to one receiver. */
export class Destination extends BaseDestination {
  /** After so many an alert that keeps coming is sent again; 0: never. */
  readonly repeatMinutes: number;
  readonly #parts: DestinationParts;
  readonly #records: ReadRecords;
  readonly #concurrency: number;
  /** The last seq that is in the log. */
  #stored: number;
  /** Open alerts that were not read since startup, or wait again; oldest first. */
  #unread: number[];
  #reading: Promise<void> | undefined;
  /** Requests under way that an administrator asked for. */
  #asked = 0;
  /** How many of those under way take long. */
  #slow = 0;
  /** Runs while the log is not read because that has failed. */
  #pause: NodeJS.Timeout | undefined;

  constructor(parts: DestinationParts) {
    super(parts, new WaitingAlerts());
    const { target, kept, alerts } = parts;
    const { concurrency = 1, repeatMinutes = defaultRepeatMinutes } = target.settings;
    this.#parts = parts;
    this.#records = new ReadRecords(alerts);
    this.#concurrency = concurrency;
    this.repeatMinutes = repeatMinutes;
    this.#stored = kept.progress.position;
    this.#unread = [...kept.progress.open.keys()].sort(bySeq);
  }

  /** When the oldest alert that waits was received. */
  get waitingSince(): number | undefined {
    let oldest: number | undefined;
    for (const { receivedAt } of this.waiting.list()) oldest = Math.min(oldest ?? receivedAt, receivedAt);
    return oldest;
  }

  get lag(): number {
    return this.progress.countOpen(this.#stored);
  }

  protected get isDelivering(): boolean {
    return this.lag > 0;
  }

  protected override get isActive(): boolean {
    return this.running + this.#asked > 0;
  }

  /** What has become of an alert of the log. */
  describe(record: StoredRecord): AlertDelivery {
    const { parked, forgotten, start, open } = this.progress;
    const { reason: error = null } = parked.get(record.seq) ?? {};
    const { attempts = 0 } = open.get(record.seq) ?? {};
    const [firstParked = 0] = parked.keys();
    const toStatus = (): AlertDelivery['status'] => {
      if (error !== null) return 'parked';
      const isRepeat = record['repeatOf'] !== undefined;
      if (record.seq <= start || !this.#parts.accepts(record) || (isRepeat && this.repeatMinutes === 0))
        return 'skipped';
      if (!this.progress.isSettled(record.seq)) return 'waiting';
      return isRepeat || (forgotten > 0 && record.seq < firstParked) ? 'unknown' : 'delivered';
    };
    return { destination: this.name, status: toStatus(), attempts, error };
  }

  /** Whether the alert is parked or waits. */
  isOpen({ seq, id }: StoredRecord): boolean {
    const parked = this.progress.parked.get(seq);
    return parked ? parked.id === id : seq <= this.#stored && !this.progress.isSettled(seq);
  }

  /** New alerts are in the log. */
  noteStored(seq: number): void {
    this.#stored = seq;
    this.advance();
  }

  /** The alerts up to the seq were deleted. */
  drop(seq: number): void {
    this.progress.drop(seq);
    for (const alert of [...this.waiting.list()]) if (alert.seq <= seq) this.waiting.remove(alert);
    this.#parts.kept.save();
  }

  /** All parked alerts wait again; returns how many. */
  unparkAll(): number {
    const seqs = this.progress.unparkAll(this.now());
    this.#unread = [...this.#unread, ...seqs].sort(bySeq);
    this.#parts.kept.save();
    this.advance();
    return seqs.length;
  }

  /** Sends an alert that is parked or waits once, whatever else waits; undefined if it is being sent already. */
  async retry(record: StoredRecord): Promise<DeliveryOutcome | undefined> {
    const alert = this.waiting.get(record.seq) ?? toWaiting(record, 0);
    if (alert.state === 'running') return undefined;
    this.waiting.begin(alert);
    this.#asked += 1;
    const outcome = await this.#send(alert, record);
    this.#asked -= 1;
    this.advance();
    return outcome;
  }

  protected override async untilQuiet(): Promise<void> {
    clearTimeout(this.#pause);
    await this.#reading;
    await super.untilQuiet();
  }

  protected proceed(): void {
    // What is read decides which alert is next.
    if (this.#reading) return;
    if (this.#hasUnread && !this.#pause) {
      this.#reading = this.#read();
      return;
    }
    while (!this.isBusy && this.receiver.waitMs === 0) {
      const alert = this.waiting.take(performance.now());
      if (!alert) break;
      void this.#attempt(alert);
    }
    const wait = this.waitMs();
    clearTimeout(this.timer);
    this.timer = wait === undefined ? undefined : setTimeout(() => this.advance(), Math.min(wait, longestMs));
  }

  protected get isBusy(): boolean {
    if (this.receiver.troubleSince !== undefined) return this.running >= 1;
    return this.running >= Math.min(this.#concurrency + this.#slow, mostRequests);
  }

  get #hasUnread(): boolean {
    return !this.waiting.isFull && (this.#unread.length > 0 || this.progress.position < this.#stored);
  }

  /** Reads until enough alerts wait, or to the end of the log. Never rejects. */
  async #read(): Promise<void> {
    try {
      while (this.#hasUnread && !this.isClosed) {
        if (this.#unread.length > 0) await this.#readOpen();
        else await this.#readNew();
      }
    } catch (err) {
      this.#logUnread(err);
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        this.advance();
      }, unexpectedWaitMs);
    }
    this.#reading = undefined;
    this.#parts.kept.save();
    this.advance();
  }

  /** Reads alerts that were open at startup or wait again, as many as are close together. */
  async #readOpen(): Promise<void> {
    const [first = 0] = this.#unread;
    const records = await readAlertsFrom(this.#parts.alerts, first);
    const last = records.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
    const found = new Map(records.map((record) => [record.seq, record]));
    const slice = new Slice();
    while (!this.isClosed && !this.waiting.isFull && (this.#unread[0] ?? Number.POSITIVE_INFINITY) <= last) {
      const seq = this.#unread.shift() ?? 0;
      this.#takeOpen(seq, found.get(seq));
      // Filters can take long.
      if (slice.isOver) await slice.giveWay();
    }
  }

  #takeOpen(seq: number, record: StoredRecord | undefined): void {
    const open = this.progress.open.get(seq);
    // It was sent on request, or deleted.
    if (!open) return;
    // In a new log, another alert may have the seq.
    if (!record || (open.again && open.again.id !== record.id)) this.progress.lose(seq);
    else if (!this.#parts.accepts(record)) this.progress.settle(seq);
    else if (!this.waiting.has(seq)) this.waiting.add(toWaiting(record, open.attempts));
  }

  /** Reads what was stored since. */
  async #readNew(): Promise<void> {
    const { alerts, accepts } = this.#parts;
    const end = this.#stored;
    const slice = new Slice();
    for await (const records of alerts.readAfter(this.progress.position)) {
      for (const record of records) {
        // It was dropped while other work ran.
        if (record.seq <= this.progress.position) continue;
        if (this.progress.advance(record.seq, accepts(record))) this.waiting.add(toWaiting(record, 0));
        if (this.waiting.isFull) break;
        if (slice.isOver) await slice.giveWay();
        if (this.isClosed) return;
      }
      if (this.receiver.troubleSince === undefined) this.#records.keep(records, this.waiting);
      if (this.isClosed || !this.#hasUnread || this.#unread.length > 0) return;
    }
    this.progress.advance(end, false);
  }

  /** Never rejects. */
  async #attempt(alert: QueuedAlert): Promise<void> {
    this.running += 1;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.#slow += 1;
      this.advance();
    }, slowMs);
    try {
      const record = this.#records.take(alert.seq) ?? (await this.#records.read(alert.seq));
      if (record?.id === alert.id && this.#isDue(record)) await this.#send(alert, record);
      else {
        if (record) this.progress.settle(alert.seq);
        else this.progress.lose(alert.seq);
        this.waiting.remove(alert);
        this.#parts.kept.save();
      }
    } catch (err) {
      this.#logUnread(err);
      alert.dueAt = performance.now() + unexpectedWaitMs;
      this.waiting.release(alert, performance.now());
    }
    clearTimeout(timer);
    if (isSlow) this.#slow -= 1;
    this.running -= 1;
    this.advance();
  }

  /** Whether an alert that may come again is to be sent: if the one that was sent last is long ago. */
  #isDue({ repeatOf }: StoredRecord): boolean {
    if (repeatOf === undefined) return true;
    const passed = this.now() - (this.progress.sent.get(String(repeatOf)) ?? 0);
    // The clock was ahead when the last one was sent, or some time has passed.
    return this.repeatMinutes > 0 && (passed < 0 || passed >= Math.floor(this.repeatMinutes * 60_000));
  }

  /** Sends the alert and notes the outcome. Never rejects. */
  async #send(alert: QueuedAlert, record: StoredRecord): Promise<DeliveryOutcome> {
    const { failures: failuresBefore, troubleSince } = this.receiver;
    const outcome = await this.#request(record);
    if (this.isClosed && (outcome.kind === 'failed' || outcome.kind === 'rejected')) return outcome;
    // It was rejected before, and others are accepted.
    const isOwn = outcome.kind === 'rejected' && alert.rejections > 0 && troubleSince === undefined;
    const hasRecovered = this.receiver.note(outcome, { failuresBefore, isOwn });
    this.#settle(alert, record, outcome, isOwn);
    if (hasRecovered) this.waiting.hurry({ all: false });
    // While nothing is accepted, memory is not used for it.
    if (this.receiver.troubleSince !== undefined) this.#records.clear();
    if (outcome.kind === 'delivered') this.#parts.onDelivered(this);
    this.updateNotice();
    this.#parts.kept.save();
    return outcome;
  }

  async #request(record: StoredRecord): Promise<DeliveryOutcome> {
    const { instance, origin, sender, log } = this.#parts;
    try {
      const ended = await this.#findEnded(record);
      const alert = toDelivered(record, instance, origin);
      if (ended) alert.ended = toDelivered(ended, instance, origin);
      const { outcome } = await sender.send(alert, toTrace(record));
      return outcome;
    } catch (err) {
      log.error({ err, destination: this.name, id: record.id }, 'outbox: unexpected error');
      return { kind: 'refused', reason: 'unexpected error' };
    }
  }

  /** The alert that a record ends. An end is sent without it rather than not at all. */
  async #findEnded({ resolves }: StoredRecord): Promise<StoredRecord | undefined> {
    const { target, findAlert } = this.#parts;
    if (!target.type.knowsByLabels || typeof resolves !== 'string') return undefined;
    return awaitWithin(
      patienceMs,
      findAlert(resolves).catch(() => undefined),
    );
  }

  #settle(alert: QueuedAlert, record: StoredRecord, outcome: DeliveryOutcome, isOwn: boolean): void {
    const { seq, id } = alert;
    if (outcome.kind === 'delivered') {
      const { repeatOf, fingerprint } = record;
      if (fingerprint !== undefined) this.progress.noteSent(typeof repeatOf === 'string' ? repeatOf : id, this.now());
      this.progress.parked.delete(seq);
      this.progress.settle(seq);
      this.waiting.remove(alert);
    } else if (outcome.kind === 'refused') {
      this.#park(alert, outcome.reason);
    } else {
      this.#noteFailure(alert, outcome);
      this.waiting.release(alert, performance.now());
      this.#giveUp(isOwn ? [alert] : [...this.waiting.list()], outcome.reason);
    }
  }

  #noteFailure(alert: QueuedAlert, outcome: FailedOutcome): void {
    const { hasCounted, isUsedUp } = noteFailure(alert, outcome, this.schedule, this.now());
    const open = this.progress.open.get(alert.seq);
    if (isUsedUp) this.#park(alert, `${outcome.reason}; ${alert.attempts} attempts`);
    else if (open && hasCounted) open.attempts = alert.attempts;
  }

  /** Parks those of the alerts for which the promise has ended. */
  #giveUp(alerts: readonly QueuedAlert[], reason: string): void {
    const { troubleSince } = this.receiver;
    const now = this.now();
    for (const alert of alerts) {
      const { at = alert.receivedAt } = this.progress.open.get(alert.seq)?.again ?? {};
      if (alert.state !== 'running' && isPromiseOver({ ...alert, receivedAt: at }, this.schedule, now, troubleSince)) {
        this.#park(alert, toGivenUp(reason, this.schedule));
      }
    }
  }

  #park(alert: QueuedAlert, reason: string): void {
    const { seq, id } = alert;
    this.progress.park(seq, { id, reason, time: this.#parts.clock().toISOString() });
    this.waiting.remove(alert);
  }

  #logUnread(err: unknown): void {
    this.#parts.log.error({ err, destination: this.name }, 'outbox: the alert log could not be read');
  }
}
