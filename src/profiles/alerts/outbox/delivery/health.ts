import type { FastifyBaseLogger } from 'fastify';
import type { Outcome } from './schedule.ts';

/** How deliveries to a destination went since startup. Logs the first failure after a success, and the reverse. */
export class Health {
  lastSuccess: Date | undefined;
  lastError: { time: Date; reason: string } | undefined;
  readonly #log: FastifyBaseLogger;
  readonly #destination: string;
  #isFailing = false;

  constructor(log: FastifyBaseLogger, destination: string) {
    this.#log = log;
    this.#destination = destination;
  }

  note(outcome: Outcome, now: Date): void {
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
