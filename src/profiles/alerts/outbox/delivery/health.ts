import type { FastifyBaseLogger } from 'fastify';
import type { Outcome } from './schedule.ts';

/** How deliveries to a destination went since startup. Logs the first failure after a success, and the reverse. */
export class Health {
  lastSuccess: Date | undefined;
  lastError: { time: Date; reason: string } | undefined;
  /** How often each outcome was. */
  readonly outcomes: Record<Outcome['kind'], number> = { delivered: 0, failed: 0, refused: 0, gone: 0 };
  readonly #log: FastifyBaseLogger;
  readonly #destination: string;
  #isFailing = false;

  constructor(log: FastifyBaseLogger, destination: string) {
    this.#log = log;
    this.#destination = destination;
  }

  note(outcome: Outcome, now: Date): void {
    this.outcomes[outcome.kind] += 1;
    const wasFailing = this.#isFailing;
    this.#isFailing = outcome.kind !== 'delivered';
    const destination = this.#destination;
    if (outcome.kind === 'delivered') {
      this.lastSuccess = now;
      if (wasFailing) this.#log.info({ destination }, 'outbox: alerts are delivered again');
      return;
    }
    const { reason } = outcome;
    this.lastError = { time: now, reason };
    if (outcome.kind === 'gone') {
      this.#log.warn(
        { destination },
        'outbox: the receiver responded 410 and gets no more alerts until SIGHUP or a restart',
      );
    } else if (!wasFailing) {
      this.#log.warn({ destination, reason }, 'outbox: an alert was not delivered');
    }
  }
}
