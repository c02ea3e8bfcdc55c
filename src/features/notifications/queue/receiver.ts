import type { FastifyBaseLogger } from 'fastify';
import { type DeliveryOutcome, type FailedOutcome, longestAskedSeconds, mayBeMessage } from './outcome.ts';
import type { Schedule } from './retries.ts';

/** A spell in which a receiver accepts nothing. It lasts until a delivery, also across restarts. */
export interface FailingSpell {
  /** RFC 3339. */
  since: string;
  reason: string;
}

/** The last alert that was stored about a destination that fails. */
export interface FailureNotice {
  id: string;
  message: string;
  /** Unix milliseconds. */
  at: number;
  isResolved: boolean;
}

/** What is known of the receiver, also after a restart. */
export interface ReceiverMemory {
  failing?: FailingSpell;
  notice?: FailureNotice;
  /** The receiver has asked for nothing before this time, in Unix milliseconds. */
  notBefore?: number;
  /** Since when nothing is delivered, in Unix milliseconds. */
  troubleSince?: number;
}

/** Where it is kept. */
export interface Remembering {
  receiver: ReceiverMemory;
}

/** A time in which nothing is delivered; times without a name for their unit are of the monotonic clock. */
interface Trouble {
  /** Unix milliseconds. */
  since: number;
  failures: number;
  isRejected: boolean;
  /** When the next regular attempt is due, and when the next one may run. */
  dueAt: number;
  openAt: number;
  /** Nothing may be sent before: the receiver has asked for that. */
  notBefore: number;
  /** It was asked before the regular attempt was due; that is done once between two regular attempts. */
  isEarly: boolean;
}

interface ReceiverParts {
  name: string;
  schedule: Schedule;
  memory: Remembering;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Whether the receiver accepts anything, when it may be asked again, and how deliveries went since startup. */
export class Receiver {
  lastSuccess: Date | undefined;
  lastError: { time: Date; reason: string } | undefined;
  /** How often each outcome was. */
  readonly outcomes: Record<DeliveryOutcome['kind'], number> = { delivered: 0, failed: 0, refused: 0, rejected: 0 };
  readonly #parts: ReceiverParts;
  #trouble: Trouble | undefined;
  /** The last attempt was in vain. */
  #isBad: boolean;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    const { failing, notBefore = 0 } = parts.memory.receiver;
    this.#isBad = failing !== undefined;
    // The clock may have been wrong when this was written.
    const wait = Math.min(notBefore - parts.clock().getTime(), longestAskedSeconds * 1000);
    if (wait > 0) this.#trouble = { ...this.#createTrouble(), openAt: performance.now() + wait };
  }

  get failing(): FailingSpell | undefined {
    return this.#parts.memory.receiver.failing;
  }

  /** Since when nothing is delivered, in Unix milliseconds; undefined if the last attempt succeeded. */
  get troubleSince(): number | undefined {
    return this.#trouble?.since;
  }

  /** Failed attempts one after the other; 0 while the receiver accepts messages. */
  get failures(): number {
    return this.#trouble?.failures ?? 0;
  }

  get isInTrouble(): boolean {
    return this.#trouble !== undefined;
  }

  /** Milliseconds until it may be asked again. */
  get waitMs(): number {
    return this.#trouble ? Math.max(0, this.#trouble.openAt - performance.now()) : 0;
  }

  /**
   * Notes the outcome of an attempt that began after so many failures; returns true if it ended a trouble. `isOwn`: the failure
   * is known to be about the message.
   */
  note(outcome: DeliveryOutcome, { failuresBefore, isOwn }: { failuresBefore: number; isOwn: boolean }): boolean {
    this.outcomes[outcome.kind] += 1;
    if (outcome.kind === 'delivered') return this.#noteDelivered();
    const { reason } = outcome;
    this.lastError = { time: this.#parts.clock(), reason };
    if (outcome.kind === 'refused' || isOwn) {
      this.#warn(reason);
      return outcome.kind === 'refused' && this.#endTrouble();
    }
    // Attempts that ran side by side count as one.
    if (this.failures === failuresBefore) this.#addFailure(outcome);
    this.#trouble ??= this.#createTrouble();
    const since = this.#noteTrouble();
    if (outcome.kind === 'rejected' || this.#now() - since >= this.#parts.schedule.failingMs) this.#fail(since, reason);
    else this.#warn(reason);
    return false;
  }

  /** The host is known to be reachable: the next attempt may run now, if the receiver was not; returns whether it may. */
  hurry(): boolean {
    const trouble = this.#trouble;
    const now = performance.now();
    if (!trouble || trouble.isRejected || trouble.isEarly || trouble.notBefore > now) return false;
    trouble.isEarly = true;
    trouble.openAt = now;
    return true;
  }

  /** The next attempt may run now, or when the receiver has asked for it, and the waits begin again. */
  resetWaits({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    if (!this.#trouble) return;
    this.#trouble.failures = 0;
    this.#trouble.openAt = ignoresRetryAfter ? 0 : this.#trouble.notBefore;
  }

  #noteDelivered(): boolean {
    const { name, log, clock } = this.#parts;
    this.lastSuccess = clock();
    if (this.#isBad) log.info({ destination: name }, 'outbox: alerts are delivered again');
    this.#isBad = false;
    if (this.failing) this.#remember({ failing: undefined });
    return this.#endTrouble();
  }

  #endTrouble(): boolean {
    const wasInTrouble = this.#trouble !== undefined;
    this.#trouble = undefined;
    const { notBefore, troubleSince } = this.#parts.memory.receiver;
    if (notBefore !== undefined || troubleSince !== undefined)
      this.#remember({ notBefore: undefined, troubleSince: undefined });
    return wasInTrouble;
  }

  /** Since when nothing is delivered, also before the last restart. */
  #noteTrouble(): number {
    const since = this.troubleSince ?? this.#now();
    const { troubleSince = since } = this.#parts.memory.receiver;
    // The clock may have been ahead when it was noted.
    const first = Math.min(since, troubleSince);
    this.#remember({ troubleSince: first });
    return first;
  }

  #addFailure(outcome: FailedOutcome): void {
    const now = performance.now();
    const trouble = this.#trouble ?? this.#createTrouble();
    this.#trouble = trouble;
    const isRejected = outcome.kind === 'rejected';
    trouble.isRejected = isRejected;
    if (!trouble.isEarly || trouble.dueAt <= now) {
      trouble.failures += 1;
      trouble.isEarly = false;
      trouble.dueAt = now + this.#waitAfter(trouble.failures, outcome);
    }
    trouble.openAt = trouble.dueAt;
    const asked = isRejected ? 0 : outcome.seconds * 1000;
    if (asked === 0) return;
    trouble.notBefore = now + asked;
    trouble.openAt = Math.max(trouble.openAt, trouble.notBefore);
    this.#remember({ notBefore: this.#now() + asked });
  }

  #waitAfter(failures: number, outcome: FailedOutcome): number {
    const { schedule } = this.#parts;
    const isRejected = outcome.kind === 'rejected';
    // Another message shows at once whether the failure was about this one.
    if (failures === 1 && mayBeMessage(outcome)) return 0;
    return isRejected ? schedule.waitAfterRejected(failures) : schedule.waitAfter(failures);
  }

  #createTrouble(): Trouble {
    const times = { dueAt: 0, openAt: 0, notBefore: 0 };
    return { since: this.#now(), failures: 0, isRejected: false, isEarly: false, ...times };
  }

  #fail(since: number, reason: string): void {
    const { failing } = this;
    if (failing?.reason === reason) return;
    this.#remember({ failing: { since: failing?.since ?? new Date(since).toISOString(), reason } });
    this.#isBad = true;
    if (failing) return;
    const { name, log } = this.#parts;
    log.warn({ destination: name, reason }, 'outbox: the destination is failing; its alerts wait');
  }

  #warn(reason: string): void {
    const { name, log } = this.#parts;
    if (!this.#isBad) log.warn({ destination: name, reason }, 'outbox: an alert was not delivered');
    this.#isBad = true;
  }

  #remember(changes: { [K in 'failing' | 'notBefore' | 'troubleSince']?: ReceiverMemory[K] | undefined }): void {
    const { memory } = this.#parts;
    const { failing, notBefore, troubleSince, ...others } = { ...memory.receiver, ...changes };
    memory.receiver = {
      ...others,
      ...(failing && { failing }),
      ...(notBefore !== undefined && { notBefore }),
      ...(troubleSince !== undefined && { troubleSince }),
    };
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}
