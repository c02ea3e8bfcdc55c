import type { FastifyBaseLogger } from 'fastify';
import type { FailingSpell, Progress } from './progress.ts';
import { longestAsked, type Outcome, type Schedule } from './schedule.ts';

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
  progress: Progress;
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Whether the receiver accepts alerts, when it may be asked again, and how deliveries went since startup. */
export class ReceiverState {
  lastSuccess: Date | undefined;
  lastError: { time: Date; reason: string } | undefined;
  /** How often each outcome was. */
  readonly outcomes: Record<Outcome['kind'], number> = { delivered: 0, failed: 0, refused: 0, rejected: 0 };
  readonly #parts: ReceiverParts;
  #trouble: Trouble | undefined;
  /** The last attempt was in vain. */
  #isBad: boolean;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
    const { failing, notBefore = 0 } = parts.progress.receiver;
    this.#isBad = failing !== undefined;
    // The clock may have been wrong when this was written.
    const wait = Math.min(notBefore - parts.clock().getTime(), longestAsked * 1000);
    if (wait > 0) this.#trouble = { ...this.#createTrouble(), openAt: performance.now() + wait };
  }

  get failing(): FailingSpell | undefined {
    return this.#parts.progress.receiver.failing;
  }

  /** Since when nothing is delivered, in Unix milliseconds; undefined if the last attempt succeeded. */
  get troubleSince(): number | undefined {
    return this.#trouble?.since;
  }

  /** How many attempts in a row were in vain. */
  get failures(): number {
    return this.#trouble?.failures ?? 0;
  }

  /** Milliseconds until it may be asked again. */
  get waitMs(): number {
    return this.#trouble ? Math.max(0, this.#trouble.openAt - performance.now()) : 0;
  }

  /**
   * Notes what became of an attempt that began after so many failures; returns whether it ended a trouble. `isOwn`: the
   * failure is known to be about the alert.
   */
  note(outcome: Outcome, { failuresBefore, isOwn }: { failuresBefore: number; isOwn: boolean }): boolean {
    this.outcomes[outcome.kind] += 1;
    if (outcome.kind === 'delivered') return this.#noteDelivered();
    const { reason } = outcome;
    this.lastError = { time: this.#parts.clock(), reason };
    if (outcome.kind === 'refused') {
      this.#warn(reason);
      return this.#endTrouble();
    }
    if (isOwn) {
      this.#warn(reason);
      return false;
    }
    // Attempts that ran side by side count as one.
    this.#trouble ??= this.#createTrouble();
    if (this.failures === failuresBefore) this.#addFailure(this.#trouble, outcome);
    const { since } = this.#trouble;
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
  begin({ ignoresRetryAfter }: { ignoresRetryAfter: boolean }): void {
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
    if (this.#parts.progress.receiver.notBefore !== undefined) this.#remember({ notBefore: undefined });
    return wasInTrouble;
  }

  #addFailure(trouble: Trouble, outcome: Extract<Outcome, { kind: 'failed' | 'rejected' }>): void {
    const now = performance.now();
    const isRejected = outcome.kind === 'rejected';
    trouble.isRejected = isRejected;
    if (trouble.isEarly && trouble.dueAt > now) {
      trouble.openAt = trouble.dueAt;
    } else {
      trouble.failures += 1;
      trouble.isEarly = false;
      trouble.dueAt = now + this.#waitAfter(trouble.failures, outcome);
      trouble.openAt = trouble.dueAt;
    }
    const asked = isRejected ? 0 : outcome.seconds * 1000;
    if (asked === 0) return;
    trouble.notBefore = now + asked;
    trouble.openAt = Math.max(trouble.openAt, trouble.notBefore);
    this.#remember({ notBefore: this.#now() + asked });
  }

  #waitAfter(failures: number, outcome: Extract<Outcome, { kind: 'failed' | 'rejected' }>): number {
    const { schedule } = this.#parts;
    const isRejected = outcome.kind === 'rejected';
    // Another alert shows at once whether the failure was about this one.
    if (failures === 1 && (isRejected || outcome.mayBeAlert)) return 0;
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

  #remember(changes: { failing?: FailingSpell | undefined; notBefore?: number | undefined }): void {
    const { progress } = this.#parts;
    const { failing, notBefore, ...others } = { ...progress.receiver, ...changes };
    progress.receiver = { ...others, ...(failing && { failing }), ...(notBefore !== undefined && { notBefore }) };
  }

  #now(): number {
    return this.#parts.clock().getTime();
  }
}
