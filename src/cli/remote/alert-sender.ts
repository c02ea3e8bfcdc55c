import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { parseRetryAfter } from '../../client/retry-after.ts';
import { otherVariables } from '../../config/names.ts';
import { UsageError } from '../args.ts';
import { say } from '../stdio.ts';
import { type AlertServer, callServer, isPassingStatus, parseObject } from './server.ts';
import { toLateText, UnsentFolder } from './state-folder.ts';

/** Alert in the form sent to the server. */
export interface SentAlert {
  source: string;
  level: string;
  message: string;
  hostname: string;
  /** Key of the problem. A resolution resolves the firing alerts with this key. */
  key?: string;
  status?: 'firing' | 'resolved';
  link?: string;
  labels?: Record<string, string>;
}

/** Alert with an idempotency key. The server stores it only once, however often it is sent. */
interface UniqueAlert {
  alert: SentAlert;
  idempotencyKey: string;
}

/** Alert that is being sent. */
export interface PendingAlert extends UniqueAlert {
  sentAt: Date;
  /** Time until which sending is retried, on the clock of `performance`. */
  deadline: number;
}

/** Reason why an alert was not stored. */
interface Unsent {
  reason: string;
  /**
   * `away`: the server may come back. `server`: the server refuses this sender, or is not signalbox. `alert`: the
   * server refuses this alert.
   */
  cause: 'away' | 'server' | 'alert';
  /** Set if an alert with this Idempotency-Key is already stored. */
  isStored?: boolean;
}

/** Id of the stored alert, or the reason why it was not stored. */
type Delivery = { id: string } | Unsent;

/** Result of keeping an alert until the same user next runs a command that sends alerts. */
interface Keeping {
  isKept: boolean;
  lost?: string;
}

/** Receives the reason for each retry. */
type Report = (reason: string) => void;

/** Maximum size in bytes of a JSON body that the server accepts. */
export const maxAlertBytes = 1024 * 1024;

const longestAttemptMs = 15_000;
const shortestAttemptMs = 5_000;
const firstWaitMs = 250;
const longestWaitMs = 5_000;

/** Statuses that concern the alert, not its sender or the server. */
const aboutAlert = new Set([400, 413, 422]);

/**
 * Status for an Idempotency-Key that was already used with different fields. This happens with kept alerts, because
 * their text says that they are late.
 */
const usedKey = 422;

const isTooLong = (alert: SentAlert): boolean => Buffer.byteLength(JSON.stringify(alert)) > maxAlertBytes;

/** Alerts that could not be delivered. */
const spool = new UnsentFolder<UniqueAlert & { url: string }>(
  'spool',
  'alert',
  ({ alert, idempotencyKey }) =>
    typeof alert.message === 'string' && /^[0-9a-f-]{36}$/.test(idempotencyKey) && !isTooLong(alert),
);

/** Creates an alert to be sent. Sending starts now and lasts at most `retryForMs`, plus one attempt. */
export const createPendingAlert = (alert: SentAlert, retryForMs: number): PendingAlert => ({
  alert,
  idempotencyKey: randomUUID(),
  sentAt: new Date(),
  deadline: performance.now() + retryForMs,
});

/**
 * Sends the alerts kept for the server, then this alert. An alert that cannot be delivered in time is kept until the
 * same user next runs a command that sends alerts. An alert that the server itself refuses is not kept. Throws a
 * UsageError if the alert is too long.
 */
export const sendAlert = async (
  pending: PendingAlert,
  server: AlertServer,
  report?: Report,
): Promise<{ id: string } | (Unsent & Keeping)> => {
  const { deadline } = pending;
  const delivery = (await deliverKept(server, deadline, report)) ?? (await deliver(pending, server, deadline, report));
  if ('id' in delivery) return delivery;
  return { ...delivery, ...(delivery.cause === 'alert' ? { isKept: false } : keepAlert(pending, server)) };
};

/**
 * Delivers alerts kept for a server until the deadline, with at least one attempt. Returns the failure if the server is
 * unreachable, otherwise undefined.
 */
export const deliverKept = async (
  server: AlertServer,
  deadline: number,
  report?: Report,
): Promise<Unsent | undefined> => {
  for (const { kept, remove } of spool.listFor(server.url.href)) {
    const delivery = await deliver(kept, server, deadline, report);
    if ('cause' in delivery && delivery.cause !== 'alert') {
      // Without access, or without a server at the address, all alerts wait until the user fixes the problem.
      return delivery.cause === 'away' ? delivery : undefined;
    }
    remove();
    if ('cause' in delivery && !delivery.isStored)
      say(`the server refused an alert that was stored on disk: ${delivery.reason}`);
  }
  return undefined;
};

/**
 * Sends an alert until the server stores or refuses it, or until the deadline plus one attempt of 5 s. All attempts
 * have the same Idempotency-Key, so the server stores the alert only once. Throws a UsageError if the alert is too
 * long.
 */
const deliver = async (
  { alert, idempotencyKey }: UniqueAlert,
  server: AlertServer,
  deadline: number,
  report?: Report,
): Promise<Delivery> => {
  if (isTooLong(alert)) throw new UsageError('the message is too long: the alert must fit into 1 MiB of JSON');
  const headers = { 'user-agent': 'signalbox', 'idempotency-key': idempotencyKey };
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const timeoutMs = Math.min(Math.max(deadline - performance.now(), shortestAttemptMs), longestAttemptMs);
    const { minWaitMs, ...delivery } = await attempt(server, { method: 'POST', body: alert, headers, timeoutMs });
    if (minWaitMs === undefined || 'id' in delivery) return delivery;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || minWaitMs > leftMs) return delivery;
    report?.(delivery.reason);
    // Random, so that many senders do not return at the same moment.
    await setTimeout(Math.min(Math.max(waitMs * (0.5 + Math.random() / 2), minWaitMs), leftMs));
  }
};

/** Sends the alert once. Sets `minWaitMs` if another attempt may succeed. */
const attempt = async (
  server: AlertServer,
  request: Parameters<typeof callServer>[2],
): Promise<Delivery & { minWaitMs?: number }> => {
  const { status, headers, text, reason, isPermanent } = await callServer(server, 'api/alert', request);
  const { id } = parseObject(text);
  if (status === 200 && typeof id === 'string') return { id };
  if (status === 200) return { reason: `${server.url.origin} is not a signalbox server`, cause: 'server' };
  if (isPassingStatus(status)) {
    return { reason, cause: 'away', minWaitMs: 1000 * (parseRetryAfter(headers['retry-after']) ?? 0) };
  }
  if (status === 0) return isPermanent ? { reason, cause: 'server' } : { reason, cause: 'away', minWaitMs: 0 };
  const advice = status === 401 ? toAdvice(server, text) : '';
  const cause = aboutAlert.has(status) ? 'alert' : 'server';
  return { reason: `${reason}${advice}`, cause, isStored: status === usedKey };
};

const toAdvice = ({ key }: AlertServer, text: string): string => {
  if (key === undefined) return `; set ${otherVariables.key} to a key from signalbox create-key`;
  // The specification defines no message for a key without the right to send alerts.
  return parseObject(text)['error'] === 'Invalid token format' ? '; the key lacks the scope alerts:write' : '';
};

/** Keeps an undelivered alert, and adds the original time of sending to its message. */
export const keepAlert = ({ alert, idempotencyKey, sentAt }: PendingAlert, { url }: AlertServer): Keeping => {
  const late = { ...alert, message: toLateText(alert.message, sentAt) };
  try {
    const dropped = spool.keep({ url: url.href, idempotencyKey, alert: isTooLong(late) ? alert : late }, sentAt);
    if (dropped > 0) say('too many undelivered alerts on disk: the oldest alert was deleted');
    return { isKept: true };
  } catch (error) {
    return { isKept: false, lost: (error as Error).message };
  }
};

/** Explains why an alert was not stored, and whether it has been kept. */
export const explainUnsent = ({ reason, isKept, lost }: Pick<Unsent, 'reason'> & Keeping): string => {
  const fate = isKept ? '; the next send or run retries' : lost === undefined ? '' : `; the alert is lost: ${lost}`;
  return `the alert was not stored: ${reason}${fate}`;
};
