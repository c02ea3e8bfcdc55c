import { randomUUID } from 'node:crypto';
import { say } from '../messages.ts';
import { deliver, type Outcome, type OutgoingAlert, type Unsent } from './deliver.ts';
import type { Server } from './server.ts';
import { keepAlert, listKeptAlerts } from './spool.ts';

/** Whether an alert is kept for the next sender, and why it could not be. */
interface Keeping {
  isKept: boolean;
  lost?: string;
}

/** An alert that was not stored is kept, unless the server refuses the alert itself. */
type Sent = { id: string } | (Unsent & Keeping);

/** Why an alert was not stored, and what becomes of it. */
export const explainUnsent = ({ reason, isKept, lost }: Pick<Unsent, 'reason'> & Keeping): string => {
  const fate = isKept ? '; it is kept for the next send or run' : lost === undefined ? '' : `; it is lost: ${lost}`;
  return `the alert was not stored: ${reason}${fate}`;
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

  /** Keeps what was not delivered yet, for a process that must end now. */
  keepPending(): Keeping {
    const keepings = [...this.#pending].map((pending) => this.#keep(pending));
    return keepings.find(({ isKept }) => !isKept) ?? { isKept: true };
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  async #send(pending: Pending, deadline: number): Promise<Sent> {
    const outcome = (await this.#deliverKept(deadline)) ?? (await this.#deliver(pending, deadline));
    if ('id' in outcome) return outcome;
    return { ...outcome, ...(outcome.cause === 'alert' ? { isKept: false } : this.#keep(pending)) };
  }

  /** Undefined unless the server is away. */
  async #deliverKept(deadline: number): Promise<Unsent | undefined> {
    for (const kept of listKeptAlerts(this.#server.url.href)) {
      const outcome = await this.#deliver(kept, deadline);
      if ('cause' in outcome && outcome.cause !== 'alert') {
        // Without access or a server at the address, this alert and all others wait for somebody to correct that.
        return outcome.cause === 'away' ? outcome : undefined;
      }
      kept.forget();
      if ('cause' in outcome && !outcome.isStored) say(`a kept alert was not stored: ${outcome.reason}`);
    }
    return undefined;
  }

  #deliver({ alert, idempotencyKey }: Omit<Pending, 'sentAt'>, deadline: number): Promise<Outcome> {
    return deliver(alert, this.#server, { deadline, idempotencyKey, report: this.#report });
  }

  #keep({ sentAt, ...pending }: Pending): Keeping {
    try {
      const dropped = keepAlert({ ...pending, url: this.#server.url.href }, sentAt);
      if (dropped > 0) say('too many alerts are kept: the oldest was dropped');
      return { isKept: true };
    } catch (error) {
      return { isKept: false, lost: (error as Error).message };
    }
  }
}
