import type { FastifyBaseLogger } from 'fastify';
import { awaitWithin } from '../../../lib/scheduling.ts';
import type { DestinationDefinition } from '../destinations/definition.ts';
import type { Transport } from '../destinations/type.ts';
import type { DeliveryProgress } from '../forwarder/progress.ts';
import type { KeptProgress } from '../forwarder/progress-file.ts';
import type { FailureReports } from './failure-reports.ts';
import type { DeliveryOutcome } from './outcome.ts';
import { DeliveryQueue, type QueueUser, type Settled } from './queue.ts';
import { ReceiverHealth } from './receiver-health.ts';
import { createBackoff } from './retries.ts';
import type { Queued } from './waiting.ts';

/** Milliseconds for which requests may continue after the destination is closed. */
const closingMs = 2000;

/** Destination whose receiver has just accepted a message. */
export type Delivered = Pick<Destination<unknown>, 'name' | 'definition'>;

export interface DestinationParts {
  definition: DestinationDefinition;
  kept: KeptProgress;
  transport: Transport;
  /** Maximum number of simultaneous requests. */
  concurrency: number;
  /** Maximum number of simultaneous requests, including requests that have taken over a second. */
  maxRequests: number;
  reports: FailureReports;
  clock: () => Date;
  log: FastifyBaseLogger;
  /** Called after each delivery. */
  onDelivered(delivered: Delivered): void;
}

/** Destination with its queue, the health of its receiver, and its progress file. */
export abstract class Destination<T> implements QueueUser<T> {
  readonly name: string;
  readonly definition: DestinationDefinition;
  readonly progress: DeliveryProgress;
  readonly health: ReceiverHealth;
  readonly queue: DeliveryQueue<T>;
  readonly #parts: DestinationParts;
  #reporting: Promise<void> = Promise.resolve();

  protected constructor(parts: DestinationParts) {
    const { definition, kept, concurrency, maxRequests, clock, log } = parts;
    const { progress } = kept;
    const { name } = definition.settings;
    const backoff = createBackoff(definition.settings);
    this.#parts = parts;
    this.name = name;
    this.definition = definition;
    this.progress = progress;
    this.health = new ReceiverHealth({ name, backoff, store: progress, clock, log });
    this.queue = new DeliveryQueue({ user: this, health: this.health, backoff, concurrency, maxRequests, clock });
  }

  /** Time of the oldest waiting alert or update, in Unix milliseconds. */
  abstract get waitingSince(): number | undefined;

  /** Number of alerts or incidents not yet delivered. */
  abstract get lag(): number;

  protected abstract get isDelivering(): boolean;

  get state(): 'idle' | 'delivering' | 'waiting' | 'failing' {
    if (this.health.failing) return 'failing';
    if (this.queue.nextAt !== undefined) return 'waiting';
    return this.isDelivering ? 'delivering' : 'idle';
  }

  /** True if the progress cannot be written. A restart would then repeat deliveries. */
  get isUnwritten(): boolean {
    return this.#parts.kept.isUnwritten();
  }

  abstract fill(): boolean;
  abstract send(one: Queued<T>): Promise<DeliveryOutcome | undefined>;
  abstract settle(one: Queued<T>, settled: Settled): Promise<void>;

  untilMore(): number {
    return Number.POSITIVE_INFINITY;
  }

  split(_one: Queued<T>): boolean {
    return false;
  }

  noteFailure(_one: Queued<T>): void {
    // Attempts are not stored, so the message is sent without backoff after a restart.
  }

  /** Saves the progress. When this destination starts or stops failing, reports that to the other destinations. */
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

  /** Runs a request. A message that causes an internal error is refused, so that it does not block other messages. */
  protected async request(send: () => Promise<DeliveryOutcome>, about?: object): Promise<DeliveryOutcome> {
    try {
      return await send();
    } catch (err) {
      this.#logError(err, about);
      return { kind: 'refused', reason: 'internal error' };
    }
  }

  /**
   * Closes the destination. Gives requests two seconds to finish, and two more for their results to be stored. A
   * message without a response is sent again after the next startup.
   */
  async close(): Promise<void> {
    const { transport, kept } = this.#parts;
    const timer = setTimeout(() => void transport.close(), closingMs);
    await awaitWithin(2 * closingMs, this.finish());
    await this.#reporting;
    clearTimeout(timer);
    await transport.close();
    await kept.close();
  }

  /** Resolves once no request is in progress. */
  protected async finish(): Promise<void> {
    await this.queue.close();
  }

  #logError(err: unknown, about: object = {}): void {
    this.#parts.log.error(
      { err, destination: this.name, ...about },
      'outbox: a message was not sent because of an internal error',
    );
  }

  protected now(): number {
    return this.#parts.clock().getTime();
  }
}
