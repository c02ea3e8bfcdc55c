import type { FastifyBaseLogger } from 'fastify';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { DestinationTarget } from '../destinations/target.ts';
import type { DeliveryProgress } from '../forwarder/progress.ts';
import type { KeptProgress } from '../forwarder/progress-file.ts';
import type { FailureReports } from './failure-reports.ts';
import type { DeliveryOutcome } from './outcome.ts';
import { DeliveryQueue, type QueueUser, type Settled } from './queue.ts';
import { Receiver } from './receiver.ts';
import { createSchedule } from './retries.ts';
import type { Queued } from './waiting.ts';

/** How long requests may go on when the destination is closed. */
const closingMs = 2000;

/** The destination that a receiver has got something of. */
export type Delivered = Pick<Destination<unknown>, 'name' | 'target'>;

/** What every destination is made with. */
export interface DestinationParts {
  target: DestinationTarget;
  kept: KeptProgress;
  /** Breaks off what is being sent. */
  sender: { close(): Promise<void> };
  /** Requests at a time, and at most where slow ones do not hold back others. */
  concurrency: number;
  maxRequests: number;
  reports: FailureReports;
  clock: () => Date;
  log: FastifyBaseLogger;
  /** Called after each delivery. */
  onDelivered(delivered: Delivered): void;
}

/** A receiver, the queue of what it is to get, and what is kept of both. */
export abstract class Destination<T> implements QueueUser<T> {
  readonly name: string;
  readonly target: DestinationTarget;
  readonly progress: DeliveryProgress;
  readonly receiver: Receiver;
  readonly queue: DeliveryQueue<T>;
  readonly #parts: DestinationParts;
  #reporting: Promise<void> = Promise.resolve();

  protected constructor(parts: DestinationParts) {
    const { target, kept, concurrency, maxRequests, clock, log } = parts;
    const { progress } = kept;
    const { name } = target.settings;
    const schedule = createSchedule(target.settings);
    this.#parts = parts;
    this.name = name;
    this.target = target;
    this.progress = progress;
    this.receiver = new Receiver({ name, schedule, memory: progress, clock, log });
    this.queue = new DeliveryQueue({ user: this, receiver: this.receiver, schedule, concurrency, maxRequests, clock });
  }

  /** When the oldest of what waits was received, or happened. */
  abstract get waitingSince(): number | undefined;

  /** How much is not delivered yet. */
  abstract get lag(): number;

  protected abstract get isDelivering(): boolean;

  get state(): 'idle' | 'delivering' | 'waiting' | 'failing' {
    if (this.receiver.failing) return 'failing';
    if (this.queue.nextAt !== undefined) return 'waiting';
    return this.isDelivering ? 'delivering' : 'idle';
  }

  /** Whether a restart would repeat deliveries, or forget that it is failing. */
  get isUnwritten(): boolean {
    return this.#parts.kept.isUnwritten();
  }

  abstract fill(): boolean;
  abstract send(one: Queued<T>): Promise<DeliveryOutcome | undefined>;
  abstract settle(one: Queued<T>, settled: Settled): Promise<void>;

  untilMore(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Most messages have no parts. */
  split(_one: Queued<T>): boolean {
    return false;
  }

  noteFailure(_one: Queued<T>): void {
    // After a restart, it is tried at once.
  }

  /** Alerts the other destinations once in a failing spell, and when it is over. */
  noteOutcome(outcome: DeliveryOutcome): void {
    const { reports, kept, onDelivered } = this.#parts;
    if (outcome.kind === 'delivered') onDelivered(this);
    if (reports.isOutdated(this.progress.receiver)) {
      this.#reporting = this.#reporting.then(() => reports.update(this.name, this.progress)).then(kept.save);
    }
    kept.save();
  }

  report(err: unknown): void {
    this.#logError(err);
  }

  /** Makes a request. What an error of our own keeps from being sent is refused, so it blocks nobody. */
  protected async request(send: () => Promise<DeliveryOutcome>, about?: object): Promise<DeliveryOutcome> {
    try {
      return await send();
    } catch (err) {
      this.#logError(err, about);
      return { kind: 'refused', reason: 'unexpected error' };
    }
  }

  /**
   * Lets requests end for two seconds; what has no response by then is sent again after the next start. What became of a
   * message may have to wait for the disk, or the database.
   */
  async close(): Promise<void> {
    const { sender, kept } = this.#parts;
    const timer = setTimeout(() => void sender.close(), closingMs);
    await awaitWithin(2 * closingMs, this.finish());
    await this.#reporting;
    clearTimeout(timer);
    await sender.close();
    await kept.close();
  }

  /** Resolves once nothing is under way. */
  protected async finish(): Promise<void> {
    await this.queue.close();
  }

  #logError(err: unknown, about: object = {}): void {
    this.#parts.log.error({ err, destination: this.name, ...about }, 'outbox: unexpected error');
  }

  protected now(): number {
    return this.#parts.clock().getTime();
  }
}
