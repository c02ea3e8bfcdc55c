import { randomUUID } from 'node:crypto';
import { say } from '../stdio.ts';
import { deliver, maxAlertBytes, type SentAlert, type Unsent } from './deliver.ts';
import type { AlertServer } from './server.ts';
import { toLateText, UnsentFolder } from './state-folder.ts';

/** An alert that is to be stored once, however often it is sent. */
interface KeyedAlert {
  alert: SentAlert;
  idempotencyKey: string;
}

/** One that is being sent. */
export interface PendingAlert extends KeyedAlert {
  sentAt: Date;
  /** Until when it is sent again, by the clock of `performance`. */
  deadline: number;
}

/** Whether an alert is kept for the next sender, and why it could not be. */
interface Keeping {
  isKept: boolean;
  lost?: string;
}

/** Gets the reason of each attempt that is repeated. */
type Report = (reason: string) => void;

const isTooLong = (alert: SentAlert): boolean => Buffer.byteLength(JSON.stringify(alert)) > maxAlertBytes;

/** The alerts that could not be delivered. */
const spool = new UnsentFolder<KeyedAlert & { url: string }>(
  'spool',
  'alert',
  ({ alert, idempotencyKey }) =>
    typeof alert.message === 'string' && /^[0-9a-f-]{36}$/.test(idempotencyKey) && !isTooLong(alert),
);

/** An alert to be sent from now on, at most for `retryForMs` and one attempt more. */
export const createPendingAlert = (alert: SentAlert, retryForMs: number): PendingAlert => ({
  alert,
  idempotencyKey: randomUUID(),
  sentAt: new Date(),
  deadline: performance.now() + retryForMs,
});

/**
 * Sends an alert, and before it those that were kept for the server. If it cannot be delivered in time, it is kept for the
 * next sender of this user, unless the server refuses the alert itself. Throws a UsageError if it is too long.
 */
export const sendAlert = async (
  pending: PendingAlert,
  server: AlertServer,
  report?: Report,
): Promise<{ id: string } | (Unsent & Keeping)> => {
  const { deadline } = pending;
  const delivery =
    (await deliverKept(server, deadline, report)) ?? (await deliver(pending, server, { deadline, report }));
  if ('id' in delivery) return delivery;
  return { ...delivery, ...(delivery.cause === 'alert' ? { isKept: false } : keepAlert(pending, server)) };
};

/** Delivers what is kept for a server, until the deadline and with at least one attempt; undefined unless it is away. */
export const deliverKept = async (
  server: AlertServer,
  deadline: number,
  report?: Report,
): Promise<Unsent | undefined> => {
  for (const { kept, remove } of spool.listFor(server.url.href)) {
    const delivery = await deliver(kept, server, { deadline, report });
    if ('cause' in delivery && delivery.cause !== 'alert') {
      // Without access or a server at the address, this alert and all others wait for somebody to correct that.
      return delivery.cause === 'away' ? delivery : undefined;
    }
    remove();
    if ('cause' in delivery && !delivery.isStored) say(`a kept alert was not stored: ${delivery.reason}`);
  }
  return undefined;
};

/** Keeps an alert that was not delivered; its message then says when it was sent. */
export const keepAlert = ({ alert, idempotencyKey, sentAt }: PendingAlert, { url }: AlertServer): Keeping => {
  const late = { ...alert, message: toLateText(alert.message, sentAt) };
  try {
    const dropped = spool.keep({ url: url.href, idempotencyKey, alert: isTooLong(late) ? alert : late }, sentAt);
    if (dropped > 0) say('too many alerts are kept: the oldest was dropped');
    return { isKept: true };
  } catch (error) {
    return { isKept: false, lost: (error as Error).message };
  }
};

/** Why an alert was not stored, and what becomes of it. */
export const explainUnsent = ({ reason, isKept, lost }: Pick<Unsent, 'reason'> & Keeping): string => {
  const fate = isKept ? '; it is kept for the next send or run' : lost === undefined ? '' : `; it is lost: ${lost}`;
  return `the alert was not stored: ${reason}${fate}`;
};
