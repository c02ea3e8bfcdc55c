import { type DeliveryOutcome, type FailedOutcome, mayBeMessage } from './outcome.ts';
import type { ReceiverHealth } from './receiver-health.ts';
import { type Backoff, isOverdue, postpone, recordFailure, toGiveUpReason } from './retries.ts';
import { type Queued, WaitingMessages } from './waiting.ts';

/** Milliseconds after which a request no longer counts towards `concurrency`. */
const slowMs = 1000;

/** Maximum number of simultaneous requests per destination. */
export const mostRequests = 8;

/** Milliseconds to wait for the next attempt after an internal error, such as a failed read of the log. */
export const unexpectedWaitMs = 5000;

/** Maximum delay of a timer in Node.js, in milliseconds. Timers with a longer delay fire immediately. */
const longestMs = 2 ** 31 - 1;

/** Final result of a message. */
export interface Settled {
  isDelivered: boolean;
  /** `delivered`, or the reason why the message was given up. */
  result: string;
}

/** Source of the messages in a queue. It also sends the messages and stores the results. */
export interface QueueUser<T> {
  /** Adds messages that can be sent now. Returns false if no message may be sent. */
  fill(): boolean;
  /** Returns the milliseconds until more messages are available. Infinity if unknown. */
  untilMore(): number;
  /** Sends a message. Resolves to undefined if the message is no longer needed. */
  send(one: Queued<T>): Promise<DeliveryOutcome | undefined>;
  /**
   * Splits a message into parts, one of which may have caused the failure. Returns false if the message has no parts.
   */
  split(one: Queued<T>): boolean;
  /** Called after a failed attempt, regardless of whether the message is retried or given up. */
  noteFailure(one: Queued<T>): void;
  /** Stores the result of a message, then removes the message. Never rejects. */
  settle(one: Queued<T>, settled: Settled): Promise<void>;
  /** Called after each attempt that has an outcome. */
  noteOutcome(outcome: DeliveryOutcome): void;
  /** Called when an internal error has prevented a message from being sent. */
  report(err: unknown): void;
}

interface QueueParts<T> {
  user: QueueUser<T>;
  health: ReceiverHealth;
  backoff: Backoff;
  /** Maximum number of simultaneous requests. */
  concurrency: number;
  /** Maximum number of simultaneous requests, including requests that have taken over a second. */
  maxRequests: number;
  clock: () => Date;
}

/**
 * Sends the messages of one destination. While a failed message waits, other messages are sent. While the receiver
 * accepts nothing, attempts are made one at a time. Once one succeeds, all waiting messages are sent.
 */
export class DeliveryQueue<T> {
  readonly waiting = new WaitingMessages<T>();
  readonly #parts: QueueParts<T>;
  /** Number of requests in progress. Requests by an administrator do not count. */
  #running = 0;
  /** Number of requests in progress that have taken over a second. */
  #slow = 0;
  /** Messages being sent at an administrator's request, by `seq`. */
  readonly #asked = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #onQuiet: () => void = () => undefined;

  constructor(parts: QueueParts<T>) {
    this.#parts = parts;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Time of the next attempt in Unix milliseconds. Undefined unless all messages are waiting. */
  get nextAt(): number | undefined {
    if (this.#running > 0 || this.waiting.size === 0) return undefined;
    const wait = this.#waitMs();
    return wait > 0 && wait < Number.POSITIVE_INFINITY ? this.#now() + wait : undefined;
  }

  /**
   * Returns the time of the next attempt for a message in Unix milliseconds. Undefined while the message is being sent.
   */
  nextAttemptOf({ state, dueAt }: Queued<T>): number | undefined {
    if (state === 'running') return undefined;
    const wait = Math.max(this.#parts.health.waitMs, state === 'later' ? dueAt - performance.now() : 0, 0);
    return this.#now() + wait;
  }

  /** Sends all messages that are due, and sets a timer for the next message. Call after any change. */
  advance(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) {
      if (this.#running + this.#asked.size === 0) this.#onQuiet();
      return;
    }
    const { user, health } = this.#parts;
    if (!user.fill()) return;
    while (!this.#isBusy && health.waitMs === 0) {
      const one = this.waiting.take(performance.now());
      if (!one) break;
      void this.#run(one);
    }
    const wait = Math.min(this.#waitMs(), user.untilMore());
    if (wait < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.advance(), Math.min(wait, longestMs));
  }

  /**
   * Sends a message once, immediately and ahead of all others. Resolves to undefined if the message is already being
   * sent. The message need not be waiting.
   */
  async sendNow(one: Queued<T>): Promise<DeliveryOutcome | undefined> {
    const { seq, state } = one;
    if (state === 'running' || this.#asked.has(seq)) return undefined;
    this.waiting.begin(one);
    this.#asked.add(seq);
    const outcome = await this.#attempt(one);
    this.#asked.delete(seq);
    this.advance();
    return outcome;
  }

  /** Sends all waiting messages now, or at the time requested by the receiver. */
  retryAll({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    this.#parts.health.resetBackoff({ ignoresRetryAfter });
    this.waiting.allowEarly({ all: true });
    this.advance();
  }

  /** Allows an early attempt. Called when the host of the receiver is known to be reachable. */
  retryEarly(): void {
    if (!this.#parts.health.allowEarly()) return;
    this.waiting.allowEarly({ all: false });
    this.advance();
  }

  /** Starts no more requests. Resolves once none is in progress. */
  close(): Promise<void> {
    this.#isClosed = true;
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.advance();
    return quiet;
  }

  /** True if no request may start. While the receiver accepts nothing, requests run one at a time. */
  get #isBusy(): boolean {
    const { health, concurrency, maxRequests } = this.#parts;
    return this.#running >= (health.isInTrouble ? 1 : Math.min(concurrency + this.#slow, maxRequests));
  }

  /** Returns the milliseconds until the next attempt. Infinity if unknown. */
  #waitMs(): number {
    if (this.#isBusy) return Number.POSITIVE_INFINITY;
    const { waitMs } = this.#parts.health;
    return this.waiting.hasReady ? waitMs : Math.max(waitMs, this.waiting.nextDueAt - performance.now());
  }

  /** Runs one attempt and processes its outcome. Never rejects. */
  async #run(one: Queued<T>): Promise<void> {
    this.#running += 1;
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.#slow += 1;
      this.advance();
    }, slowMs);
    await this.#attempt(one);
    clearTimeout(timer);
    if (isSlow) this.#slow -= 1;
    this.#running -= 1;
    this.advance();
  }

  /** Makes one attempt to send a message. Never rejects. */
  async #attempt(one: Queued<T>): Promise<DeliveryOutcome | undefined> {
    const { user, health } = this.#parts;
    const isProbe = health.isInTrouble;
    const failuresBefore = health.failures;
    try {
      const outcome = await user.send(one);
      if (!outcome) this.waiting.remove(one);
      if (!outcome || (this.#isClosed && isFailed(outcome))) return outcome;
      // The receiver accepts other messages, so it is this particular message that is rejected.
      const isOwn = outcome.kind === 'rejected' && one.rejections > 0 && !isProbe;
      const hasRecovered = health.record(outcome, { failuresBefore, isOwn });
      await this.#handle(one, outcome);
      if (hasRecovered) this.waiting.allowEarly({ all: false });
      user.noteOutcome(outcome);
      return outcome;
    } catch (err) {
      user.report(err);
      one.dueAt = performance.now() + unexpectedWaitMs;
      this.waiting.release(one, performance.now());
      return undefined;
    }
  }

  async #handle(one: Queued<T>, outcome: DeliveryOutcome): Promise<void> {
    const { user } = this.#parts;
    if (outcome.kind === 'delivered') {
      await user.settle(one, { isDelivered: true, result: 'delivered' });
    } else if (isFailed(outcome)) {
      await this.#handleFailure(one, outcome);
      await this.#giveUp(outcome.reason);
    } else if (!user.split(one)) {
      await user.settle(one, { isDelivered: false, result: outcome.reason });
    }
  }

  async #handleFailure(one: Queued<T>, outcome: FailedOutcome): Promise<void> {
    const { user, backoff } = this.#parts;
    // The receiver may have the message, and sending parts would repeat it, so the message is split only after a second
    // failure.
    const mayHaveIt = outcome.kind === 'failed' && outcome.isUnanswered === true && one.unanswered === 0;
    const mayBePart = mayBeMessage(outcome) && !mayHaveIt && !this.#isOverdue(one);
    recordFailure(one, outcome, this.#now());
    if (mayBePart && user.split(one)) return;
    const isUsedUp = postpone(one, outcome, backoff);
    user.noteFailure(one);
    if (isUsedUp) {
      await user.settle(one, { isDelivered: false, result: `${outcome.reason}; ${one.attempts} attempts` });
    } else this.waiting.release(one, performance.now());
  }

  #isOverdue(one: Queued<T>): boolean {
    const { backoff, health } = this.#parts;
    return isOverdue(one, backoff, this.#now(), health.troubleSince);
  }

  /** Gives up messages that have waited for `giveUpHours`. */
  async #giveUp(reason: string): Promise<void> {
    const { user, backoff } = this.#parts;
    for (const one of [...this.waiting.list()]) {
      if (one.state === 'running' || !this.#isOverdue(one)) continue;
      this.waiting.begin(one);
      try {
        await user.settle(one, { isDelivered: false, result: toGiveUpReason(one.error ?? reason, backoff) });
      } catch (err) {
        user.report(err);
        this.waiting.release(one, performance.now());
      }
    }
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}

const isFailed = (outcome: DeliveryOutcome): outcome is FailedOutcome =>
  outcome.kind === 'failed' || outcome.kind === 'rejected';
