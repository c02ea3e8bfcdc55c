import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { parseRetryAfter } from '../../client/retry-after.ts';
import { otherVariables } from '../../config/names.ts';
import { UsageError } from '../args.ts';
import { say } from '../stdio.ts';
import { type AlertServer, callServer, isPassingStatus, parseObject } from './server.ts';
import { toLateText, UnsentFolder } from './state-folder.ts';

/** An alert as it is sent. */
export interface SentAlert {
  source: string;
  level: string;
  message: string;
  hostname: string;
  /** What it is about: a resolution ends the alerts that fire with its key. */
  key?: string;
  status?: 'firing' | 'resolved';
  link?: string;
  labels?: Record<string, string>;
}

/** An alert that is to be stored once, however often it is sent. */
interface UniqueAlert {
  alert: SentAlert;
  idempotencyKey: string;
}

/** One that is being sent. */
export interface PendingAlert extends UniqueAlert {
  sentAt: Date;
  /** Until when it is sent again, by the clock of `performance`. */
  deadline: number;
}

/** Why an alert was not stored. */
interface Unsent {
  reason: string;
  /** The server may come back; or it refuses this sender, or is no signalbox; or it refuses this alert. */
  cause: 'away' | 'server' | 'alert';
  /** An alert with this Idempotency-Key is stored. */
  isStored?: boolean;
}

/** The id of the stored alert, or why it was not stored. */
type Delivery = { id: string } | Unsent;

/** Whether an alert is kept for the next sender, and why it could not be. */
interface Keeping {
  isKept: boolean;
  lost?: string;
}

/** Gets the reason of each attempt that is repeated. */
type Report = (reason: string) => void;

/** What the server takes as a body of JSON. */
export const maxAlertBytes = 1024 * 1024;

const longestAttemptMs = 15_000;
const shortestAttemptMs = 5_000;
const firstWaitMs = 250;
const longestWaitMs = 5_000;

/** Statuses that are about the alert and not about who sends it where. */
const aboutAlert = new Set([400, 413, 422]);

/** The Idempotency-Key came before, with other fields: what is kept says that it is late. */
const usedKey = 422;

const isTooLong = (alert: SentAlert): boolean => Buffer.byteLength(JSON.stringify(alert)) > maxAlertBytes;

/** The alerts that could not be delivered. */
const spool = new UnsentFolder<UniqueAlert & { url: string }>(
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
  const delivery = (await deliverKept(server, deadline, report)) ?? (await deliver(pending, server, deadline, report));
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
    const delivery = await deliver(kept, server, deadline, report);
    if ('cause' in delivery && delivery.cause !== 'alert') {
      // Without access or a server at the address, this alert and all others wait for somebody to correct that.
      return delivery.cause === 'away' ? delivery : undefined;
    }
    remove();
    if ('cause' in delivery && !delivery.isStored) say(`a kept alert was not stored: ${delivery.reason}`);
  }
  return undefined;
};

/**
 * Sends an alert until the server has stored or refused it, at most until the deadline and one attempt of 5 s more. All
 * attempts have the same Idempotency-Key, so it is stored once. Throws a UsageError if the alert is too long.
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
    const { leastWaitMs, ...delivery } = await attempt(server, { method: 'POST', body: alert, headers, timeoutMs });
    if (leastWaitMs === undefined || 'id' in delivery) return delivery;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || leastWaitMs > leftMs) return delivery;
    report?.(delivery.reason);
    // Many senders do not come back at the same moment.
    await setTimeout(Math.min(Math.max(waitMs * (0.5 + Math.random() / 2), leastWaitMs), leftMs));
  }
};

/** Sends it once; `leastWaitMs` is set if another attempt may succeed. */
const attempt = async (
  server: AlertServer,
  request: Parameters<typeof callServer>[2],
): Promise<Delivery & { leastWaitMs?: number }> => {
  const { status, headers, text, reason, isLasting } = await callServer(server, 'api/alert', request);
  const { id } = parseObject(text);
  if (status === 200 && typeof id === 'string') return { id };
  if (status === 200) return { reason: `${server.url.origin} is not a signalbox server`, cause: 'server' };
  if (isPassingStatus(status)) {
    return { reason, cause: 'away', leastWaitMs: 1000 * (parseRetryAfter(headers['retry-after']) ?? 0) };
  }
  if (status === 0) return isLasting ? { reason, cause: 'server' } : { reason, cause: 'away', leastWaitMs: 0 };
  const advice = status === 401 ? toAdvice(server, text) : '';
  const cause = aboutAlert.has(status) ? 'alert' : 'server';
  return { reason: `${reason}${advice}`, cause, isStored: status === usedKey };
};

const toAdvice = ({ key }: AlertServer, text: string): string => {
  if (key === undefined) return `; set ${otherVariables.key}`;
  // The specification has no words for a key that may not send.
  return parseObject(text)['error'] === 'Invalid token format' ? '; the key lacks the scope alerts:write' : '';
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
