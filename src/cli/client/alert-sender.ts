import { randomUUID } from 'node:crypto';
import { say } from '../messages.ts';
import { deliver, type Outcome, type OutgoingAlert } from './deliver.ts';
import type { Server } from './server.ts';
import { keepAlert, listKeptAlerts } from './spool.ts';

/** The alert was kept if the server was away and there was a place for it; `lost` says why there was none. */
export type Sent = Exclude<Outcome, { away: string }> | { away: string; lost?: string };

/** Why an alert was not stored, and what becomes of it. */
export const explainUnsent = (sent: Exclude<Sent, { id: string }>): string => {
  if ('refused' in sent) return `the alert was not stored: ${sent.refused}`;
  const fate = sent.lost === undefined ? 'it is kept for the next send or run' : `it is lost: ${sent.lost}`;
  return `the alert was not stored: ${sent.away}; ${fate}`;
};

interface Pending {
  alert: OutgoingAlert;
  idempotencyKey: string;
  sentAt: Date;
}

/**
 * Sends alerts one after the other. Those that cannot be delivered in time are kept, and delivered by the next sender of this
 * user to the same server before its own.
 */
export class AlertSender {
  readonly #server: Server;
  readonly #report: ((reason: string) => void) | undefined;
  readonly #pending = new Set<Pending>();
  #turn: Promise<unknown> = Promise.resolve();

  /** `report` gets the reason of each attempt that is repeated. */
  constructor(server: Server, report?: (reason: string) => void) {
    this.#server = server;
    this.#report = report;
  }

  /** Sends an alert, at most for `retryForMs` from now and one attempt more. Throws a UsageError if it is too long. */
  send(alert: OutgoingAlert, retryForMs: number): Promise<Sent> {
    const deadline = performance.now() + retryForMs;
    const pending = { alert, idempotencyKey: randomUUID(), sentAt: new Date() };
    this.#pending.add(pending);
    const sent = this.#turn.then(() => this.#send(pending, deadline)).finally(() => this.#pending.delete(pending));
    this.#turn = sent.catch(() => undefined);
    return sent;
  }

  /** Delivers what is kept, with one attempt. */
  async deliverKept(): Promise<void> {
    await this.#deliverKept(performance.now());
  }

  /** Keeps what was not delivered yet, for a process that must end now. Returns why it could not, or undefined. */
  keepPending(): string | undefined {
    return [...this.#pending].map((pending) => this.#keep(pending)).find((lost) => lost !== undefined);
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  async #send(pending: Pending, deadline: number): Promise<Sent> {
    const outcome = (await this.#deliverKept(deadline)) ?? (await this.#deliver(pending, deadline));
    if (!('away' in outcome)) return outcome;
    const lost = this.#keep(pending);
    return { away: outcome.away, ...(lost !== undefined && { lost }) };
  }

  /** Undefined unless the server is away. */
  async #deliverKept(deadline: number): Promise<{ away: string } | undefined> {
    for (const kept of listKeptAlerts(this.#server.url.href)) {
      const outcome = await this.#deliver(kept, deadline);
      if ('away' in outcome) return outcome;
      // Without access or a server at the address, this alert and all others wait for somebody to correct that.
      if ('refused' in outcome && !outcome.isAboutAlert) return undefined;
      kept.forget();
      if ('refused' in outcome && !outcome.isStored) say(`a kept alert was not stored: ${outcome.refused}`);
    }
    return undefined;
  }

  #deliver({ alert, idempotencyKey }: Omit<Pending, 'sentAt'>, deadline: number): Promise<Outcome> {
    return deliver(alert, this.#server, { deadline, idempotencyKey, report: this.#report });
  }

  /** Why it could not be kept; undefined if it was. */
  #keep({ sentAt, ...pending }: Pending): string | undefined {
    try {
      const dropped = keepAlert({ ...pending, url: this.#server.url.href }, sentAt);
      if (dropped > 0) say('too many alerts are kept: the oldest was dropped');
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}
