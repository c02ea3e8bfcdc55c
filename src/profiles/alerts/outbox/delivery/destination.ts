import type { FastifyBaseLogger } from 'fastify';
import { toTrace } from '../../../../http/request/traceparent.ts';
import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';
import type { RecordLog } from '../../../../storage/record-log.ts';
import type { AlertDelivery } from '../../reading/schema.ts';
import { toOutgoing, toReceivedAt } from '../alert.ts';
import type { Accepts } from '../config/filter.ts';
import type { Target } from '../config/target.ts';
import { Health } from './health.ts';
import type { ProgressLog } from './progress-log.ts';
import { createSchedule, type Outcome, type Schedule, toOutcome } from './schedule.ts';
import type { Sender } from './sender.ts';
import { Wakeup } from './wakeup.ts';

/** After an error of our own, for example while the log is read. */
const unexpectedWaitMs = 5000;

/** Alerts that may be delivered while an earlier one is under way. */
const mostAhead = 64;

/** How long requests may go on when the destination is closed. */
const closingMs = 2000;

interface DestinationParts {
  target: Target;
  instance: string;
  accepts: Accepts;
  alerts: Pick<RecordLog, 'readAfter'>;
  progressLog: ProgressLog;
  sender: Sender;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Sends the alerts of the log to one receiver, in their order. One that fails holds back those after it until it is parked. */
export class Destination {
  readonly health: Health;
  isDisabled = false;
  readonly #parts: DestinationParts;
  readonly #schedule: Schedule;
  readonly #wakeup = new Wakeup();
  /** Alerts under way, and when they were received. */
  readonly #running = new Map<Promise<void>, number>();
  /** The last seq that is in the log. */
  #stored: number;
  #isClosed = false;
  /** An alert has failed since the log was last read. */
  #hasFailed = false;
  #loop: Promise<void> | undefined;

  constructor(parts: DestinationParts, stored: number) {
    this.#parts = parts;
    this.health = new Health(parts.log, parts.target.settings.name);
    this.#schedule = createSchedule(parts.target.settings.retrySeconds);
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

  /** When the oldest alert that is under way or failing was received. */
  get waitingSince(): number | undefined {
    const times = [...this.#running.values(), ...[...this.progress.failing.values()].map((one) => one.receivedAt)];
    return times.length === 0 ? undefined : Math.min(...times);
  }

  get lag(): number {
    return Math.max(0, this.#stored - this.progress.cursor);
  }

  /** When the next attempt is due, if the destination waits for that. */
  get nextAt(): number | undefined {
    const { failing } = this.progress;
    if (failing.size === 0 || this.#running.size > 0 || this.isDisabled) return undefined;
    // The latest, so that no receiver is asked before its Retry-After.
    return Math.max(...[...failing.values()].map((one) => one.nextAt));
  }

  get state(): 'idle' | 'delivering' | 'waiting' | 'disabled' {
    if (this.isDisabled) return 'disabled';
    if (this.nextAt !== undefined) return 'waiting';
    return this.lag > 0 ? 'delivering' : 'idle';
  }

  /** The seq of the parked alert with this id. */
  findParked(id: string): number | undefined {
    return [...this.progress.parked].find(([, parked]) => parked.id === id)?.[0];
  }

  /** What has become of an alert of the log. */
  describe(record: StoredRecord): AlertDelivery {
    const { parked, forgotten, start, failing } = this.progress;
    const { reason: error = null } = parked.get(record.seq) ?? {};
    const { attempts = 0 } = failing.get(record.seq) ?? {};
    const [firstParked = 0] = parked.keys();
    const toStatus = (): AlertDelivery['status'] => {
      if (error !== null) return 'parked';
      if (record.seq <= start || !this.#parts.accepts(record)) return 'skipped';
      if (!this.progress.isSettled(record.seq)) return 'waiting';
      return forgotten > 0 && record.seq < firstParked ? 'unknown' : 'delivered';
    };
    return { destination: this.name, status: toStatus(), attempts, error };
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** New alerts are in the log. */
  noteStored(seq: number): void {
    this.#stored = seq;
    if (this.progress.failing.size === 0) this.#wakeup.wake();
  }

  /** The alerts up to the seq were deleted. */
  drop(seq: number): void {
    this.progress.drop(seq);
    this.#parts.progressLog.save();
  }

  /** Sends alerts again after a 410. */
  enable(): void {
    this.isDisabled = false;
    this.#wakeup.wake();
  }

  reopen(): Promise<void> {
    return this.#parts.progressLog.reopen();
  }

  /** Sends a parked alert once, whatever else waits. It stays parked unless it is delivered. */
  async retry(record: StoredRecord): Promise<Outcome> {
    const outcome = await this.#send(record);
    if (outcome.kind === 'delivered') {
      this.progress.unpark(record.seq);
      this.#parts.progressLog.save();
    }
    if (outcome.kind === 'gone') this.isDisabled = true;
    return outcome;
  }

  /** Lets requests end for two seconds; alerts whose response has not come by then are sent again after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeup.wake();
    const { sender, progressLog } = this.#parts;
    const timer = setTimeout(() => void sender.close(), closingMs);
    await this.#loop;
    clearTimeout(timer);
    await sender.close();
    await progressLog.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#wait();
        if (!this.#isClosed) await this.#deliver();
      } catch (err) {
        this.#parts.log.error({ err, destination: this.name }, 'outbox: the alert log could not be read');
        if (!this.#isClosed) await this.#wakeup.sleep(unexpectedWaitMs);
      }
    }
  }

  /** Until there is something to send and it is due. Nothing is read or written meanwhile. */
  async #wait(): Promise<void> {
    while (!this.#isClosed && (this.isDisabled || this.lag === 0)) await this.#wakeup.sleep();
    const { nextAt } = this;
    if (this.#isClosed || nextAt === undefined) return;
    const wait = nextAt - this.#parts.clock().getTime();
    // The clock may have been set back since.
    if (wait > 0) await this.#wakeup.sleep(Math.min(wait, this.#schedule.longest));
  }

  /** Sends what is in the log until its end, or until one fails. */
  async #deliver(): Promise<void> {
    const { alerts, accepts, progressLog } = this.#parts;
    const end = this.#stored;
    this.#hasFailed = false;
    try {
      for await (const records of alerts.readAfter(this.progress.cursor)) {
        for (const record of records) {
          if (this.progress.isSettled(record.seq)) continue;
          if (!accepts(record)) this.progress.skipTo(record.seq);
          else if (!(await this.#begin(record))) return;
        }
      }
    } finally {
      await Promise.all(this.#running.keys());
    }
    if (this.#isStopped) return;
    this.progress.finish(end);
    progressLog.save();
  }

  get #isStopped(): boolean {
    return this.#hasFailed || this.isDisabled || this.#isClosed;
  }

  /** Begins to send as soon as another request may run; resolves to whether it has. */
  async #begin(record: StoredRecord): Promise<boolean> {
    const { concurrency = 1 } = this.target.settings;
    const isFull = () => this.#running.size >= concurrency || this.progress.settled.size >= mostAhead;
    while (this.#running.size > 0 && isFull() && !this.#isStopped) await Promise.race(this.#running.keys());
    if (this.#isStopped) return false;
    this.progress.begin(record.seq);
    const attempt = this.#attempt(record).finally(() => this.#running.delete(attempt));
    this.#running.set(attempt, toReceivedAt(record));
    return true;
  }

  /** Never rejects. */
  async #attempt(record: StoredRecord): Promise<void> {
    const outcome = await this.#send(record).catch((err: unknown): Outcome => {
      this.#parts.log.error({ err, destination: this.name, id: record.id }, 'outbox: unexpected error');
      return { kind: 'refused', reason: 'unexpected error' };
    });
    this.#settle(record, outcome);
    this.#parts.progressLog.save();
  }

  #settle(record: StoredRecord, outcome: Outcome): void {
    const { progress } = this;
    const { seq } = record;
    const receivedAt = toReceivedAt(record);
    const { attempts = 0 } = progress.failing.get(seq) ?? {};
    if (outcome.kind === 'delivered') {
      progress.settle(seq);
    } else if (outcome.kind === 'refused') {
      this.#park(record, outcome.reason);
    } else if (outcome.kind === 'gone' || this.#isClosed) {
      this.isDisabled = outcome.kind === 'gone';
      progress.fail(seq, { attempts, nextAt: 0, receivedAt });
    } else {
      const wait = this.#schedule.waitAfter(attempts + 1);
      if (wait === undefined) {
        this.#park(record, `${outcome.reason}; ${attempts + 1} attempts`);
        return;
      }
      this.#hasFailed = true;
      const nextAt = this.#parts.clock().getTime() + Math.max(wait, outcome.seconds * 1000);
      progress.fail(seq, { attempts: attempts + 1, nextAt, receivedAt });
    }
  }

  #park({ seq, id }: StoredRecord, reason: string): void {
    this.progress.park(seq, { id, reason, time: this.#parts.clock().toISOString() });
  }

  async #send(record: StoredRecord): Promise<Outcome> {
    const { target, instance, sender, clock } = this.#parts;
    const alert = toOutgoing(record, instance);
    const { path, headers, body } = target.type.toRequest(alert, target.place, clock());
    const reply = await sender.send({ path, headers: { ...headers, via: alert.via, ...toTrace(record) }, body });
    const outcome: Outcome =
      'failure' in reply
        ? { kind: 'failed', reason: reply.failure, seconds: 0 }
        : toOutcome(reply.status, reply.retryAfter, clock());
    this.health.note(outcome, clock());
    return outcome;
  }
}
