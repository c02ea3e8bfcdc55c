import type { FastifyBaseLogger } from 'fastify';
import { type DeliveryOutcome, type FailedOutcome, longestAskedSeconds, mayBeMessage } from './outcome.ts';
import type { Backoff } from './retries.ts';

/** Period during which a destination is failing. It ends with a delivery, and continues across restarts. */
export interface FailingSpell {
  /** RFC 3339. */
  since: string;
  reason: string;
}

/** Last alert that reported the failure of a destination. */
export interface FailureAlert {
  id: string;
  message: string;
  /** Unix milliseconds. */
  at: number;
  isResolved: boolean;
}

/** Stored form of a receiver's health. It is part of the destination's progress file. */
export interface StoredHealth {
  failing?: FailingSpell;
  notice?: FailureAlert;
  /** Earliest time of the next attempt requested by the receiver, in Unix milliseconds. */
  notBefore?: number;
  /** Time since which nothing has been delivered, in Unix milliseconds. */
  troubleSince?: number;
}

export interface HealthStore {
  receiver: StoredHealth;
}

/** Period during which every message is failing. Times are monotonic unless stated otherwise. */
interface Trouble {
  /** Unix milliseconds. */
  since: number;
  /** Number of consecutive failed attempts. */
  failures: number;
  /** True if the last attempt was rejected. */
  isRejected: boolean;
  /** Time of the next regular attempt. */
  dueAt: number;
  /** Earliest time of the next attempt. */
  openAt: number;
  /** Earliest next attempt requested by the receiver. */
  notBefore: number;
  /** True if an early attempt has been allowed. At most one is allowed between two regular attempts. */
  isEarly: boolean;
}

interface ReceiverParts {
  name: string;
  backoff: Backoff;
  store: HealthStore;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Health of a receiver: whether it accepts messages, when the next attempt is due, and the outcomes since startup. */
export class ReceiverHealth {
  lastSuccess: Date | undefined;
  lastError: { time: Date; reason: string } | undefined;
  /** Numbers of attempts since startup, by outcome. */
  readonly outcomes: Record<DeliveryOutcome['kind'], number> = { delivered: 0, failed: 0, refused: 0, rejected: 0 };
  readonly #parts: ReceiverParts;
  #trouble: Trouble | undefined;
  /** True if failing deliveries have been reported in the log. */
  #isFailureLogged: boolean;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    const { failing, notBefore = 0 } = parts.store.receiver;
    this.#isFailureLogged = failing !== undefined;
    // The clock may have been wrong when the time was stored.
    const wait = Math.min(notBefore - parts.clock().getTime(), longestAskedSeconds * 1000);
    if (wait > 0) this.#trouble = { ...this.#createTrouble(), openAt: performance.now() + wait };
  }

  get failing(): FailingSpell | undefined {
    return this.#parts.store.receiver.failing;
  }

  /** Time since which nothing has been delivered, in Unix milliseconds. Undefined if the last attempt succeeded. */
  get troubleSince(): number | undefined {
    return this.#trouble?.since;
  }

  /** Number of consecutive failed attempts. 0 while the receiver accepts messages. */
  get failures(): number {
    return this.#trouble?.failures ?? 0;
  }

  get isInTrouble(): boolean {
    return this.#trouble !== undefined;
  }

  /** Milliseconds before the next attempt may start. */
  get waitMs(): number {
    return this.#trouble ? Math.max(0, this.#trouble.openAt - performance.now()) : 0;
  }

  /**
   * Records the outcome of an attempt. Returns true if the receiver has started to accept messages again.
   * `failuresBefore` is the number of failures when the attempt began. `isOwn` means that the message itself caused the
   * failure.
   */
  record(outcome: DeliveryOutcome, { failuresBefore, isOwn }: { failuresBefore: number; isOwn: boolean }): boolean {
    this.outcomes[outcome.kind] += 1;
    if (outcome.kind === 'delivered') return this.#recordDelivery();
    const { reason } = outcome;
    this.lastError = { time: this.#parts.clock(), reason };
    if (outcome.kind === 'refused' || isOwn) {
      this.#warn(reason);
      return outcome.kind === 'refused' && this.#endTrouble();
    }
    // Failures of simultaneous attempts count as one failure.
    if (this.failures === failuresBefore) this.#addFailure(outcome);
    this.#trouble ??= this.#createTrouble();
    const since = this.#storeTroubleStart();
    if (outcome.kind === 'rejected' || this.#now() - since >= this.#parts.backoff.failingMs) this.#fail(since, reason);
    else this.#warn(reason);
    return false;
  }

  /**
   * Allows an early attempt, because the host is reachable. Returns false if an attempt is pointless or not allowed.
   */
  allowEarly(): boolean {
    const trouble = this.#trouble;
    const now = performance.now();
    if (!trouble || trouble.isRejected || trouble.isEarly || trouble.notBefore > now) return false;
    trouble.isEarly = true;
    trouble.openAt = now;
    return true;
  }

  /** Restarts the backoff and allows an attempt now, or at the time requested by the receiver. */
  resetBackoff({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
    if (!this.#trouble) return;
    this.#trouble.failures = 0;
    this.#trouble.openAt = ignoresRetryAfter ? 0 : this.#trouble.notBefore;
  }

  #recordDelivery(): boolean {
    const { name, log, clock } = this.#parts;
    this.lastSuccess = clock();
    if (this.#isFailureLogged) log.info({ destination: name }, 'outbox: deliveries have resumed');
    this.#isFailureLogged = false;
    if (this.failing) this.#store({ failing: undefined });
    return this.#endTrouble();
  }

  #endTrouble(): boolean {
    const wasInTrouble = this.#trouble !== undefined;
    this.#trouble = undefined;
    const { notBefore, troubleSince } = this.#parts.store.receiver;
    if (notBefore !== undefined || troubleSince !== undefined)
      this.#store({ notBefore: undefined, troubleSince: undefined });
    return wasInTrouble;
  }

  /** Stores the time since which nothing has been delivered, and returns it. It may be before the last restart. */
  #storeTroubleStart(): number {
    const since = this.troubleSince ?? this.#now();
    const { troubleSince = since } = this.#parts.store.receiver;
    // The clock may have been ahead when the time was stored.
    const first = Math.min(since, troubleSince);
    this.#store({ troubleSince: first });
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
    this.#store({ notBefore: this.#now() + asked });
  }

  #waitAfter(failures: number, outcome: FailedOutcome): number {
    const { backoff } = this.#parts;
    const isRejected = outcome.kind === 'rejected';
    // Another message will show whether this message caused the failure.
    if (failures === 1 && mayBeMessage(outcome)) return 0;
    return isRejected ? backoff.waitAfterRejected(failures) : backoff.waitAfter(failures);
  }

  #createTrouble(): Trouble {
    const times = { dueAt: 0, openAt: 0, notBefore: 0 };
    return { since: this.#now(), failures: 0, isRejected: false, isEarly: false, ...times };
  }

  #fail(since: number, reason: string): void {
    const { failing } = this;
    if (failing?.reason === reason) return;
    this.#store({ failing: { since: failing?.since ?? new Date(since).toISOString(), reason } });
    this.#isFailureLogged = true;
    if (failing) return;
    const { name, log } = this.#parts;
    log.warn({ destination: name, reason }, 'outbox: the destination is failing; its alerts are waiting');
  }

  #warn(reason: string): void {
    const { name, log } = this.#parts;
    if (!this.#isFailureLogged) log.warn({ destination: name, reason }, 'outbox: an alert was not delivered');
    this.#isFailureLogged = true;
  }

  #store(changes: { [K in 'failing' | 'notBefore' | 'troubleSince']?: StoredHealth[K] | undefined }): void {
    const { store } = this.#parts;
    const { failing, notBefore, troubleSince, ...others } = { ...store.receiver, ...changes };
    store.receiver = {
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
