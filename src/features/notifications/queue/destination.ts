import type { FastifyBaseLogger } from 'fastify';
import type { DestinationTarget } from '../destinations/target.ts';
import type { DeliveryProgress, KeptProgress } from '../forwarder/progress.ts';
import { createSchedule, type Notices, ReceiverState, type Schedule } from './receiver.ts';
import type { QueuedAlert, WaitingAlerts } from './waiting.ts';

/** After an error of our own, for example while the log is read. */
export const unexpectedWaitMs = 5000;

/** How long requests may go on when the destination is closed. */
export const destinationClosingMs = 2000;

/** What every destination is made with. */
export interface BaseParts {
  target: DestinationTarget;
  kept: KeptProgress;
  /** Breaks off what is being sent. */
  sender: { close(): Promise<void> };
  notices: Notices;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/**
 * What destinations of alerts and of incidents have in common: what fails waits, while other things are sent; while the receiver
 * accepts nothing, one attempt at a time shows when it does again.
 */
export abstract class BaseDestination {
  readonly name: string;
  readonly target: DestinationTarget;
  readonly progress: DeliveryProgress;
  readonly receiver: ReceiverState;
  readonly waiting: WaitingAlerts;
  protected readonly schedule: Schedule;
  /** Requests under way whose turn it is. */
  protected running = 0;
  protected timer: NodeJS.Timeout | undefined;
  protected isClosed = false;
  readonly #base: BaseParts;
  #noticing: Promise<void> = Promise.resolve();
  #onQuiet: () => void = () => undefined;

  protected constructor(parts: BaseParts, waiting: WaitingAlerts) {
    const { target, kept, clock, log } = parts;
    this.#base = parts;
    this.name = target.settings.name;
    this.target = target;
    this.progress = kept.progress;
    this.waiting = waiting;
    this.schedule = createSchedule(target.settings);
    this.receiver = new ReceiverState({
      name: this.name,
      schedule: this.schedule,
      progress: kept.progress,
      clock,
      log,
    });
  }

  /** When the oldest of what waits was received, or happened. */
  abstract get waitingSince(): number | undefined;

  /** How much is not delivered yet. */
  abstract get lag(): number;

  protected abstract get isDelivering(): boolean;

  /** Whether no further request may run: one at a time finds out when a trouble ends. */
  protected abstract get isBusy(): boolean;

  /** Begins what can be done now, and waits for what cannot. */
  protected abstract proceed(): void;

  protected get isActive(): boolean {
    return this.running > 0;
  }

  /** Whether a restart would repeat deliveries, or forget that it is failing. */
  get isUnwritten(): boolean {
    return this.#base.kept.isUnwritten();
  }

  /** When the next attempt is due, if the destination waits for that. */
  get nextAt(): number | undefined {
    if (this.running > 0 || this.waiting.size === 0) return undefined;
    const wait = this.waitMs();
    return wait === undefined || wait <= 0 ? undefined : this.now() + wait;
  }

  get state(): 'idle' | 'delivering' | 'waiting' | 'failing' {
    if (this.receiver.failing) return 'failing';
    if (this.nextAt !== undefined) return 'waiting';
    return this.isDelivering ? 'delivering' : 'idle';
  }

  /** When what waits may be tried, in Unix milliseconds; undefined if it is being sent. */
  nextAttemptOf({ state, dueAt }: QueuedAlert): number | undefined {
    if (state === 'running') return undefined;
    const wait = Math.max(this.receiver.waitMs, state === 'later' ? dueAt - performance.now() : 0, 0);
    return this.now() + wait;
  }

  /** Tries everything that waits again, now or when the receiver has asked for it. */
  retryWaiting({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    this.receiver.resetWaits({ ignoresRetryAfter });
    this.waiting.hurry({ all: true });
    this.advance();
  }

  /** The host of the receiver is known to be reachable. */
  hurry(): void {
    if (!this.receiver.hurry()) return;
    this.waiting.hurry({ all: false });
    this.advance();
  }

  /** Lets requests end for two seconds; what has no response by then is sent again after the next start. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    const { sender, kept } = this.#base;
    const timer = setTimeout(() => void sender.close(), destinationClosingMs);
    await this.untilQuiet();
    await this.#noticing;
    clearTimeout(timer);
    await sender.close();
    await kept.close();
  }

  /** Called whenever something has changed, or time has passed. */
  advance(): void {
    if (!this.isClosed) this.proceed();
    else if (!this.isActive) this.#onQuiet();
  }

  /** Resolves once nothing is under way. */
  protected untilQuiet(): Promise<void> {
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.advance();
    return quiet;
  }

  /** Milliseconds until something is to be done; undefined if that is not known. */
  protected waitMs(): number | undefined {
    if (this.isBusy) return undefined;
    const { waitMs } = this.receiver;
    if (this.waiting.hasReady) return waitMs;
    const { nextDueAt } = this.waiting;
    return nextDueAt === undefined ? undefined : Math.max(waitMs, nextDueAt - performance.now());
  }

  /** Alerts the other destinations once in a failing spell, and when it is over. */
  protected updateNotice(): void {
    const { notices, kept } = this.#base;
    if (!notices.isOutdated(this.progress.receiver)) return;
    this.#noticing = this.#noticing.then(() => notices.update(this.name, this.progress)).then(kept.save);
  }

  protected now(): number {
    return this.#base.clock().getTime();
  }
}
