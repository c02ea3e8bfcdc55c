import type { FastifyBaseLogger } from 'fastify';
import type { SilenceSource } from '../../../kit/silence-source.ts';

/** Milliseconds for which a computed time is reused. Computing it is slow with many silences. */
const knownMs = 1000;

/** Milliseconds before a failed computation is retried. */
const retryMs = 1000;

/** Source of destinations on call. Times are Unix milliseconds. */
export interface OnCallSource {
  isOnCall(destination: string, at: number): boolean;
  nextHandoverAfter(at: number): number | undefined;
}

interface ChangeParts {
  silences: Pick<SilenceSource, 'nextChangeAfter'>;
  onCall: Pick<OnCallSource, 'nextHandoverAfter'>;
  log: Pick<FastifyBaseLogger, 'error'>;
}

/** Next time at which a silence begins or ends, or a rotation hands over. */
export class NextChange {
  readonly #parts: ChangeParts;
  #at = Number.POSITIVE_INFINITY;
  /** Monotonic time until which `#at` may be used without being recomputed. */
  #isKnownUntil = Number.NEGATIVE_INFINITY;

  constructor(parts: ChangeParts) {
    this.#parts = parts;
  }

  /** Returns the time in Unix milliseconds, or Infinity. Once a change is due, returns it until `reset` is called. */
  after(now: number): number {
    if (this.#at > now && performance.now() >= this.#isKnownUntil) {
      this.#isKnownUntil = performance.now() + knownMs;
      this.#at = this.#compute(now);
    }
    return this.#at;
  }

  isDue(now: number): boolean {
    return this.#at <= now;
  }

  /** Causes the next call of `after` to recompute the time. */
  reset(): void {
    this.#at = Number.POSITIVE_INFINITY;
    this.#isKnownUntil = Number.NEGATIVE_INFINITY;
  }

  #compute(now: number): number {
    const { silences, onCall, log } = this.#parts;
    try {
      const times = [silences.nextChangeAfter(now), onCall.nextHandoverAfter(now)];
      return Math.min(...times.filter((at) => at !== undefined));
    } catch (err) {
      log.error({ err }, 'notifications: the next planned change cannot be computed; trying again');
      return now + retryMs;
    }
  }
}
