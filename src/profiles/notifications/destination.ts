import type { FastifyBaseLogger } from 'fastify';
import { toTrace } from '../../http/request-headers.ts';
import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { AlertDelivery } from '../alert-source.ts';
import { toOutgoing } from './delivery-alert.ts';
import { NewAlerts, RecordReader, Reminders } from './new-alerts.ts';
import type { Notices } from './notices.ts';
import type { Notice } from './progress.ts';
import type { ProgressLog } from './progress-log.ts';
import { ReceiverState } from './receiver-state.ts';
import { createSchedule, type Outcome, type Schedule, toOutcome, Wakeup } from './schedule.ts';
import type { Sender } from './sender.ts';
import type { Accepts } from './settings.ts';
import type { Target } from './target.ts';
import { toWaiting, type WaitingAlert, WaitingAlerts } from './waiting.ts';

/** After an error of our own, for example while the log is read. */
const unexpectedWaitMs = 5000;

/** An alert is given up no sooner than this after its first failure, although signalbox may have been off for long. */
const leastTriedMs = 60 * 60 * 1000;

/** How long requests may go on when the destination is closed. */
const closingMs = 2000;

interface DestinationParts {
  target: Target;
  instance: string;
  accepts: Accepts;
  alerts: Pick<RecordLog, 'readAfter'>;
  progressLog: ProgressLog;
  sender: Sender;
  notices: Notices;
  clock: () => Date;
  log: FastifyBaseLogger;
  /** Called after each delivery. */
  onDelivered(): void;
}

/**
 * Sends the alerts of the log to one receiver. An alert that fails waits, while others are sent; while the receiver does not
 * accept any, one attempt at a time shows when it does again.
 */
export class Destination {
  readonly receiver: ReceiverState;
  readonly waiting = new WaitingAlerts();
  readonly #parts: DestinationParts;
  readonly #schedule: Schedule;
  readonly #reader: RecordReader;
  readonly #reminders: Reminders;
  readonly #wakeup = new Wakeup();
  readonly #pause = new Wakeup();
  /** Requests under way: those whose turn it is, and those that an administrator asked for. */
  readonly #running = new Set<Promise<unknown>>();
  readonly #retries = new Set<Promise<unknown>>();
  #noticing: Promise<void> = Promise.resolve();
  readonly #newAlerts: NewAlerts;
  /** The last seq that is in the log. */
  #stored: number;
  #isClosed = false;
  #loop: Promise<void> | undefined;

  constructor(parts: DestinationParts, stored: number) {
    const { target, progressLog, clock, log, alerts } = parts;
    const { settings } = target;
    this.#parts = parts;
    this.#schedule = createSchedule(settings);
    this.#reader = new RecordReader(alerts);
    this.#newAlerts = new NewAlerts({
      ...{ alerts, accepts: parts.accepts, progress: progressLog.progress, waiting: this.waiting },
      onRead: (records) => this.#reader.keep(records),
    });
    this.#reminders = new Reminders(progressLog.progress, clock, settings.repeatMinutes);
    this.receiver = new ReceiverState({
      ...{ name: settings.name, schedule: this.#schedule, progress: progressLog.progress, clock, log },
    });
    this.#stored = stored;
  }

  get name(): string {
    return this.#parts.target.settings.name;
  }

  get target(): Target {
    return this.#parts.target;
  }

  get progress() {
    return this.#parts.progressLog.progress;
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

  /** When the next attempt is due, if the destination waits for that. */
  get nextAt(): number | undefined {
    if (this.#running.size > 0 || this.waiting.size === 0) return undefined;
    const wait = this.#waitMs();
    return wait === undefined || wait <= 0 ? undefined : this.#now() + wait;
  }

  get state(): 'idle' | 'delivering' | 'waiting' | 'failing' {
    if (this.receiver.failing) return 'failing';
    if (this.nextAt !== undefined) return 'waiting';
    return this.lag > 0 ? 'delivering' : 'idle';
  }

  /** What has become of an alert of the log. */
  describe(record: StoredRecord): AlertDelivery {
    const { parked, forgotten, start } = this.progress;
    const { reason: error = null } = parked.get(record.seq) ?? {};
    const { attempts = 0 } = this.progress.triedOf(record.seq) ?? {};
    const [firstParked = 0] = parked.keys();
    const toStatus = (): AlertDelivery['status'] => {
      if (error !== null) return 'parked';
      if (record.seq <= start || !this.#parts.accepts(record) || !this.#reminders.mayWant(record)) return 'skipped';
      if (!this.progress.isSettled(record.seq)) return 'waiting';
      const isUnknown = record['repeatOf'] !== undefined || (forgotten > 0 && record.seq < firstParked);
      return isUnknown ? 'unknown' : 'delivered';
    };
    return { destination: this.name, status: toStatus(), attempts, error };
  }

  /** Whether the alert is parked or waits. */
  isOpen({ seq, id }: StoredRecord): boolean {
    const parked = this.progress.parked.get(seq);
    return parked ? parked.id === id : seq <= this.#stored && !this.progress.isSettled(seq);
  }

  /** When a waiting alert may be tried, in Unix milliseconds; undefined if it is being sent. */
  nextAttemptOf({ state, dueAt }: WaitingAlert): number | undefined {
    if (state === 'running') return undefined;
    const wait = Math.max(this.receiver.waitMs, state === 'later' ? dueAt - performance.now() : 0, 0);
    return this.#now() + wait;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** New alerts are in the log. */
  noteStored(seq: number): void {
    this.#stored = seq;
    this.#wakeup.wake();
  }

  /** The alerts up to the seq were deleted. */
  drop(seq: number): void {
    this.progress.drop(seq);
    for (const alert of [...this.waiting.list()]) if (alert.seq <= seq) this.waiting.remove(alert);
    this.#parts.progressLog.save();
  }

  /** Tries everything that waits again, now or when the receiver has asked for it. */
  retryWaiting({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    this.receiver.begin({ ignoresRetryAfter });
    this.waiting.hurry({ all: true });
    this.#wakeup.wake();
  }

  /** All parked alerts wait again; returns how many. */
  unparkAll(): number {
    const seqs = this.progress.unparkAll(this.#now());
    this.#newAlerts.goBack(seqs);
    this.#parts.progressLog.save();
    this.#wakeup.wake();
    return seqs.length;
  }

  /** The host of the receiver is known to be reachable. */
  hurry(): void {
    if (!this.receiver.hurry()) return;
    this.waiting.hurry({ all: false });
    this.#wakeup.wake();
  }

  reopen(): Promise<void> {
    return this.#parts.progressLog.reopen();
  }

  /** Sends an alert that is parked or waits once, whatever else waits; undefined if it is being sent already. */
  async retry(record: StoredRecord): Promise<Outcome | undefined> {
    const alert = this.waiting.get(record.seq) ?? toWaiting(record, 0);
    if (alert.state === 'running') return undefined;
    this.waiting.begin(alert);
    const attempt = this.#send(alert, record).finally(() => {
      this.#retries.delete(attempt);
      this.#wakeup.wake();
    });
    this.#retries.add(attempt);
    return attempt;
  }

  /** Lets requests end for two seconds; alerts whose response has not come by then are sent again after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#newAlerts.stop();
    this.#wakeup.wake();
    this.#pause.wake();
    const { sender, progressLog } = this.#parts;
    const timer = setTimeout(() => void sender.close(), closingMs);
    await this.#loop;
    await Promise.all([...this.#running, ...this.#retries]);
    await this.#noticing;
    clearTimeout(timer);
    await sender.close();
    await progressLog.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (await this.#newAlerts.read(this.#stored)) this.#parts.progressLog.save();
        while (this.#beginNext());
        await this.#wakeup.sleep(this.#waitMs());
      } catch (err) {
        this.#logUnread(err);
        await this.#pause.sleep(unexpectedWaitMs);
      }
    }
  }

  /** Begins to send the next alert, if there is one and another request may run; returns whether it has. */
  #beginNext(): boolean {
    if (this.#isClosed || this.#isBusy || this.receiver.waitMs > 0) return false;
    const alert = this.waiting.take(performance.now());
    if (!alert) return false;
    const attempt = this.#attempt(alert).finally(() => {
      this.#running.delete(attempt);
      this.#wakeup.wake();
    });
    this.#running.add(attempt);
    return true;
  }

  /** Whether no further request may run: one at a time finds out when a trouble ends. */
  get #isBusy(): boolean {
    const { concurrency = 1 } = this.target.settings;
    return this.#running.size >= (this.receiver.troubleSince === undefined ? concurrency : 1);
  }

  /** Milliseconds until something is to be done; undefined if that is not known. */
  #waitMs(): number | undefined {
    if (this.#isBusy) return undefined;
    const { waitMs } = this.receiver;
    if (this.waiting.hasReady) return waitMs;
    const { nextDueAt } = this.waiting;
    return nextDueAt === undefined ? undefined : Math.max(waitMs, nextDueAt - performance.now());
  }

  /** Never rejects. */
  async #attempt(alert: WaitingAlert): Promise<void> {
    try {
      const record = await this.#reader.read(alert.seq);
      if (record?.id === alert.id && this.#reminders.isDue(record)) {
        await this.#send(alert, record);
        return;
      }
      if (record) this.progress.settle(alert.seq);
      else this.progress.lose(alert.seq, alert.seq);
      this.waiting.remove(alert);
      this.#parts.progressLog.save();
    } catch (err) {
      this.#logUnread(err);
      alert.dueAt = performance.now() + unexpectedWaitMs;
      this.waiting.release(alert, performance.now());
    }
  }

  /** Sends the alert and notes the outcome. Never rejects. */
  async #send(alert: WaitingAlert, record: StoredRecord): Promise<Outcome> {
    const { failures: failuresBefore, troubleSince } = this.receiver;
    const outcome = await this.#request(record).catch((err: unknown): Outcome => {
      this.#parts.log.error({ err, destination: this.name, id: record.id }, 'outbox: unexpected error');
      return { kind: 'refused', reason: 'unexpected error' };
    });
    if (this.#isClosed && (outcome.kind === 'failed' || outcome.kind === 'rejected')) return outcome;
    // It was rejected before, and others are accepted.
    const isOwn = outcome.kind === 'rejected' && alert.rejections > 0 && troubleSince === undefined;
    const hasRecovered = this.receiver.note(outcome, { failuresBefore, isOwn });
    this.#settle(alert, outcome, isOwn);
    if (hasRecovered) this.waiting.hurry({ all: false });
    if (outcome.kind === 'delivered') {
      this.#reminders.note(record);
      this.#parts.onDelivered();
    }
    this.#updateNotice();
    this.#parts.progressLog.save();
    return outcome;
  }

  async #request(record: StoredRecord): Promise<Outcome> {
    const { target, instance, sender, clock } = this.#parts;
    const alert = toOutgoing(record, instance);
    const { path, headers, body } = target.type.toRequest(alert, target.place, clock());
    const all = { ...headers, ...target.headers, via: alert.via, ...toTrace(record) };
    const reply = await sender.send({ path, headers: all, body });
    if ('failure' in reply) return { kind: 'failed', reason: reply.failure, seconds: 0, mayBeAlert: reply.isSent };
    return toOutcome(reply.status, reply.retryAfter, clock());
  }

  #settle(alert: WaitingAlert, outcome: Outcome, isOwn: boolean): void {
    const { seq } = alert;
    if (outcome.kind === 'delivered') {
      this.progress.unpark(seq);
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

  #noteFailure(alert: WaitingAlert, outcome: Extract<Outcome, { kind: 'failed' | 'rejected' }>): void {
    const now = performance.now();
    const isRejected = outcome.kind === 'rejected';
    const mayBeAlert = isRejected || outcome.mayBeAlert;
    alert.failingSince ??= this.#now();
    if (mayBeAlert) alert.suspicion += 1;
    if (isRejected) alert.rejections += 1;
    // An attempt before its time counts only if it succeeds.
    if (alert.isEarly && alert.dueAt > now) return;
    alert.isEarly = false;
    if (isRejected) {
      alert.dueAt = now + this.#schedule.waitAfterRejected(alert.rejections);
      return;
    }
    alert.attempts += 1;
    if (mayBeAlert) alert.dueAt = now + this.#schedule.waitAfter(alert.attempts);
    if (alert.attempts >= this.#schedule.mostAttempts)
      this.#park(alert, `${outcome.reason}; ${alert.attempts} attempts`);
    else this.progress.setTried(alert.seq, { ...this.progress.triedOf(alert.seq), attempts: alert.attempts });
  }

  /** Parks those of the alerts for which the promise has ended. */
  #giveUp(alerts: readonly WaitingAlert[], reason: string): void {
    const { giveUpMs } = this.#schedule;
    const now = this.#now();
    const { troubleSince = now } = this.receiver;
    for (const alert of alerts) {
      const { seq, receivedAt, failingSince = troubleSince, state } = alert;
      const { at = receivedAt } = this.progress.triedOf(seq)?.again ?? {};
      const end = Math.max(at + giveUpMs, failingSince + Math.min(giveUpMs, leastTriedMs));
      if (now >= end && state !== 'running') this.#park(alert, `${reason}; given up after ${toHours(giveUpMs)}`);
    }
  }

  #park(alert: WaitingAlert, reason: string): void {
    const { seq, id } = alert;
    this.progress.park(seq, { id, reason, time: this.#parts.clock().toISOString() });
    this.waiting.remove(alert);
  }

  /** Alerts the other destinations once in a failing spell, and when it is over. */
  #updateNotice(): void {
    const { notices } = this.#parts;
    if (!notices.isOutdated(this.progress.receiver)) return;
    this.#noticing = this.#noticing.then(async () => {
      // What has changed meanwhile is stored, too.
      let last: Notice | undefined;
      do {
        last = this.progress.receiver.notice;
        this.progress.receiver = await notices.update(this.name, this.progress);
      } while (this.progress.receiver.notice !== last);
      this.#parts.progressLog.save();
    });
  }

  #logUnread(err: unknown): void {
    this.#parts.log.error({ err, destination: this.name }, 'outbox: the alert log could not be read');
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}

const toHours = (ms: number): string => `${Number((ms / 3_600_000).toPrecision(3))} h`;
