import { type DeliveryOutcome, type FailedOutcome, mayBeMessage } from './outcome.ts';
import type { Receiver } from './receiver.ts';
import { blame, isPromiseOver, postpone, type Schedule, toGivenUp } from './retries.ts';
import { type Queued, WaitingMessages } from './waiting.ts';

/** A request that takes longer than this does not hold back others, up to so many at a time. */
const slowMs = 1000;
export const mostRequests = 8;

/** After an error of our own, for example while the log is read. */
export const unexpectedWaitMs = 5000;

/** A timer with more milliseconds would end at once. */
const longestMs = 2 ** 31 - 1;

/** What became of a message in the end: it was delivered, or given up for a reason. */
export interface Settled {
  isDelivered: boolean;
  result: string;
}

/** What a queue leaves to the one that fills it. */
export interface QueueUser<T> {
  /** Adds what can be sent now; returns whether anything may be sent. */
  fill(): boolean;
  /** Milliseconds until there is more to add; infinite if that is not known. */
  untilMore(): number;
  /** Sends a message; resolves to undefined if there is nothing to send any more. */
  send(one: Queued<T>): Promise<DeliveryOutcome | undefined>;
  /** Puts parts of a message into the queue instead of it, of which one may be why it failed; returns whether it has any. */
  split(one: Queued<T>): boolean;
  /** Takes note that a message has failed. */
  noteFailure(one: Queued<T>): void;
  /** Takes note of what became of a message, and removes it once that is known. Never rejects. */
  settle(one: Queued<T>, settled: Settled): Promise<void>;
  /** Called after each attempt. */
  noteOutcome(outcome: DeliveryOutcome): void;
  /** An error of our own has kept a message from being sent. */
  report(err: unknown): void;
}

interface QueueParts<T> {
  user: QueueUser<T>;
  receiver: Receiver;
  schedule: Schedule;
  /** Requests at a time, and at most where slow ones do not hold back others. */
  concurrency: number;
  maxRequests: number;
  clock: () => Date;
}

/**
 * Sends the messages of one destination. What fails waits, while others are sent; while the receiver accepts nothing, one
 * attempt at a time shows when it does again, and then all that wait are tried.
 */
export class DeliveryQueue<T> {
  readonly waiting = new WaitingMessages<T>();
  readonly #parts: QueueParts<T>;
  /** Requests under way whose turn it is, and those of them that take long. */
  #running = 0;
  #slow = 0;
  /** What an administrator asked for, and is being sent. */
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

  /** When the next attempt is due, in Unix milliseconds, if the destination waits for that. */
  get nextAt(): number | undefined {
    if (this.#running > 0 || this.waiting.size === 0) return undefined;
    const wait = this.#waitMs();
    return wait > 0 && wait < Number.POSITIVE_INFINITY ? this.#now() + wait : undefined;
  }

  /** When a message may be tried, in Unix milliseconds; undefined if it is being sent. */
  nextAttemptOf({ state, dueAt }: Queued<T>): number | undefined {
    if (state === 'running') return undefined;
    const wait = Math.max(this.#parts.receiver.waitMs, state === 'later' ? dueAt - performance.now() : 0, 0);
    return this.#now() + wait;
  }

  /** Sends what can be sent now, and waits for the rest: called whenever something has changed, or time has passed. */
  advance(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) {
      if (this.#running + this.#asked.size === 0) this.#onQuiet();
      return;
    }
    const { user, receiver } = this.#parts;
    if (!user.fill()) return;
    while (!this.#isBusy && receiver.waitMs === 0) {
      const one = this.waiting.take(performance.now());
      if (!one) break;
      void this.#run(one);
    }
    const wait = Math.min(this.#waitMs(), user.untilMore());
    if (wait < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.advance(), Math.min(wait, longestMs));
  }

  /** Sends a message once, now, whatever else waits; undefined if it is being sent. It need not be one that waits. */
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

  /** Tries everything that waits again, now or when the receiver has asked for it. */
  retryAll({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    this.#parts.receiver.resetWaits({ ignoresRetryAfter });
    this.waiting.hurry({ all: true });
    this.advance();
  }

  /** The host of the receiver is known to be reachable. */
  hurry(): void {
    if (!this.#parts.receiver.hurry()) return;
    this.waiting.hurry({ all: false });
    this.advance();
  }

  /** Sends nothing else; resolves once nothing is under way. */
  close(): Promise<void> {
    this.#isClosed = true;
    const quiet = new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
    this.advance();
    return quiet;
  }

  /** One request at a time finds out when a trouble ends. */
  get #isBusy(): boolean {
    const { receiver, concurrency, maxRequests } = this.#parts;
    return this.#running >= (receiver.isInTrouble ? 1 : Math.min(concurrency + this.#slow, maxRequests));
  }

  /** Milliseconds until something is to be done; infinite if that is not known. */
  #waitMs(): number {
    if (this.#isBusy) return Number.POSITIVE_INFINITY;
    const { waitMs } = this.#parts.receiver;
    return this.waiting.hasReady ? waitMs : Math.max(waitMs, this.waiting.nextDueAt - performance.now());
  }

  /** Never rejects. */
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

  /** Never rejects. */
  async #attempt(one: Queued<T>): Promise<DeliveryOutcome | undefined> {
    const { user, receiver } = this.#parts;
    const isProbe = receiver.isInTrouble;
    const failuresBefore = receiver.failures;
    try {
      const outcome = await user.send(one);
      if (!outcome) this.waiting.remove(one);
      if (!outcome || (this.#isClosed && isFailed(outcome))) return outcome;
      // It was rejected before, and others are accepted.
      const isOwn = outcome.kind === 'rejected' && one.rejections > 0 && !isProbe;
      const hasRecovered = receiver.note(outcome, { failuresBefore, isOwn });
      await this.#note(one, outcome);
      if (hasRecovered) this.waiting.hurry({ all: false });
      user.noteOutcome(outcome);
      return outcome;
    } catch (err) {
      user.report(err);
      one.dueAt = performance.now() + unexpectedWaitMs;
      this.waiting.release(one, performance.now());
      return undefined;
    }
  }

  async #note(one: Queued<T>, outcome: DeliveryOutcome): Promise<void> {
    const { user } = this.#parts;
    if (outcome.kind === 'delivered') {
      await user.settle(one, { isDelivered: true, result: 'delivered' });
    } else if (isFailed(outcome)) {
      await this.#noteFailure(one, outcome);
      await this.#giveUp(outcome.reason);
    } else if (!user.split(one)) {
      await user.settle(one, { isDelivered: false, result: outcome.reason });
    }
  }

  async #noteFailure(one: Queued<T>, outcome: FailedOutcome): Promise<void> {
    const { user, schedule } = this.#parts;
    // Parts of a message that the receiver may have would say it all again: only where it fails twice.
    const mayHaveIt = outcome.kind === 'failed' && outcome.isUnanswered === true && one.unanswered === 0;
    const mayBePart = mayBeMessage(outcome) && !mayHaveIt && !this.#isOver(one);
    blame(one, outcome, this.#now());
    if (mayBePart && user.split(one)) return;
    const isUsedUp = postpone(one, outcome, schedule);
    user.noteFailure(one);
    if (isUsedUp) {
      await user.settle(one, { isDelivered: false, result: `${outcome.reason}; ${one.attempts} attempts` });
    } else this.waiting.release(one, performance.now());
  }

  #isOver(one: Queued<T>): boolean {
    const { schedule, receiver } = this.#parts;
    return isPromiseOver(one, schedule, this.#now(), receiver.troubleSince);
  }

  /** Gives up messages for which the promise has ended. */
  async #giveUp(reason: string): Promise<void> {
    const { user, schedule } = this.#parts;
    for (const one of [...this.waiting.list()]) {
      if (one.state === 'running' || !this.#isOver(one)) continue;
      this.waiting.begin(one);
      try {
        await user.settle(one, { isDelivered: false, result: toGivenUp(one.error ?? reason, schedule) });
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
