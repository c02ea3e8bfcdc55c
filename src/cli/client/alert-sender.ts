import { randomUUID } from 'node:crypto';
import { say } from '../stdio.ts';
import { type Delivery, deliver, maxAlertBytes, type SentAlert, type Unsent } from './deliver.ts';
import type { AlertServer } from './server.ts';
import { StateFolder, tolerate } from './state-folder.ts';

/** Whether an alert is kept for the next sender, and why it could not be. */
interface Keeping {
  isKept: boolean;
  lost?: string;
}

interface Pending {
  alert: SentAlert;
  idempotencyKey: string;
  sentAt: Date;
}

/** An alert that could not be delivered, as its file has it. */
interface KeptAlert {
  /** The server that it is for. */
  url: string;
  idempotencyKey: string;
  alert: SentAlert;
}

/** The alerts that could not be delivered. */
const spool = new StateFolder('spool');

/** Why an alert was not stored, and what becomes of it. */
export const explainUnsent = ({ reason, isKept, lost }: Pick<Unsent, 'reason'> & Keeping): string => {
  const fate = isKept ? '; it is kept for the next send or run' : lost === undefined ? '' : `; it is lost: ${lost}`;
  return `the alert was not stored: ${reason}${fate}`;
};

/**
 * Sends alerts one after the other. Those that cannot be delivered in time are kept, and delivered by the next sender of this
 * user to the same server before its own.
 */
export class AlertSender {
  readonly #server: AlertServer;
  readonly #report: ((reason: string) => void) | undefined;
  readonly #pending = new Set<Pending>();
  #turn: Promise<unknown> = Promise.resolve();

  /** `report` gets the reason of each attempt that is repeated. */
  constructor(server: AlertServer, report?: (reason: string) => void) {
    this.#server = server;
    this.#report = report;
  }

  /**
   * Sends an alert, at most for `retryForMs` from now and one attempt more. One that was not stored is kept, unless the
   * server refuses the alert itself. Throws a UsageError if it is too long.
   */
  send(alert: SentAlert, retryForMs: number): Promise<{ id: string } | (Unsent & Keeping)> {
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

  async #send(pending: Pending, deadline: number): Promise<{ id: string } | (Unsent & Keeping)> {
    const delivery = (await this.#deliverKept(deadline)) ?? (await this.#deliver(pending, deadline));
    if ('id' in delivery) return delivery;
    return { ...delivery, ...(delivery.cause === 'alert' ? { isKept: false } : this.#keep(pending)) };
  }

  /** Undefined unless the server is away. */
  async #deliverKept(deadline: number): Promise<Unsent | undefined> {
    for (const { file, ...kept } of listKeptAlerts(this.#server.url.href)) {
      const delivery = await this.#deliver(kept, deadline);
      if ('cause' in delivery && delivery.cause !== 'alert') {
        // Without access or a server at the address, this alert and all others wait for somebody to correct that.
        return delivery.cause === 'away' ? delivery : undefined;
      }
      tolerate('a kept alert will be sent again', () => spool.remove(file));
      if ('cause' in delivery && !delivery.isStored) say(`a kept alert was not stored: ${delivery.reason}`);
    }
    return undefined;
  }

  #deliver({ alert, idempotencyKey }: Omit<Pending, 'sentAt'>, deadline: number): Promise<Delivery> {
    return deliver(alert, this.#server, { deadline, idempotencyKey, report: this.#report });
  }

  /** Keeps an alert, whose message then says when it was sent. */
  #keep({ alert, idempotencyKey, sentAt }: Pending): Keeping {
    const late = { ...alert, message: `${alert.message}\n(sent late; it happened at ${sentAt.toISOString()})` };
    const kept: KeptAlert = {
      url: this.#server.url.href,
      idempotencyKey,
      alert: isTooLong(late) ? alert : late,
    };
    const order = String(sentAt.getTime()).padStart(16, '0');
    try {
      const dropped = spool.write(`${order}-${randomUUID()}.json`, JSON.stringify(kept));
      if (dropped > 0) say('too many alerts are kept: the oldest was dropped');
      return { isKept: true };
    } catch (error) {
      return { isKept: false, lost: (error as Error).message };
    }
  }
}

/**
 * The alerts that are kept for a server, the oldest first. Each is read when it is its turn: others may deliver it before.
 * Never throws; a file that can never be delivered gets the ending `.bad`.
 */
const listKeptAlerts = function* (url: string): Generator<KeptAlert & { file: string }> {
  for (const file of tolerate('kept alerts are not delivered', () => spool.list()) ?? []) {
    if (!file.endsWith('.json')) continue;
    const text = tolerate('a kept alert is not delivered', () => spool.read(file));
    if (text === undefined) continue;
    const kept = parseKeptAlert(text);
    if (kept?.url === url) yield { ...kept, file };
    if (kept) continue;
    tolerate('a kept file is not an alert', () =>
      say(`a kept file is not an alert: it is now ${spool.setAside(file)}`),
    );
  }
};

/** Undefined for a text that was not written here. */
const parseKeptAlert = (text: string): KeptAlert | undefined => {
  try {
    const { url, idempotencyKey, alert }: KeptAlert = JSON.parse(text);
    const isValid =
      typeof url === 'string' && typeof alert.message === 'string' && /^[0-9a-f-]{36}$/.test(idempotencyKey);
    return isValid && !isTooLong(alert) ? { url, idempotencyKey, alert } : undefined;
  } catch {
    return undefined;
  }
};

const isTooLong = (alert: SentAlert): boolean => Buffer.byteLength(JSON.stringify(alert)) > maxAlertBytes;
