import { setTimeout } from 'node:timers/promises';
import { otherVariables } from '../../config/names.ts';
import { UsageError } from '../args.ts';
import { type AlertServer, callServer, isPassingStatus, parseObject } from './server.ts';

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

/** Why an alert was not stored. */
export interface Unsent {
  reason: string;
  /** The server may come back; or it refuses this sender, or is no signalbox; or it refuses this alert. */
  cause: 'away' | 'server' | 'alert';
  /** An alert with this Idempotency-Key is stored. */
  isStored?: boolean;
}

/** The id of the stored alert, or why it was not stored. */
type Delivery = { id: string } | Unsent;

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

interface Options {
  /** By the clock of `performance`, in milliseconds. */
  deadline: number;
  /** Gets the reason of each attempt that is repeated. */
  report?: ((reason: string) => void) | undefined;
}

/**
 * Sends an alert until the server has stored or refused it, at most until the deadline and one attempt of 5 s more. All
 * attempts have the same Idempotency-Key, so it is stored once. Throws a UsageError if the alert is too long.
 */
export const deliver = async (
  { alert, idempotencyKey }: { alert: SentAlert; idempotencyKey: string },
  server: AlertServer,
  { deadline, report }: Options,
): Promise<Delivery> => {
  const body = JSON.stringify(alert);
  const length = Buffer.byteLength(body);
  if (length > maxAlertBytes) throw new UsageError('the message is too long: the alert must fit into 1 MiB of JSON');
  const headers = {
    'content-type': 'application/json',
    'content-length': length,
    'user-agent': 'signalbox',
    'idempotency-key': idempotencyKey,
  };
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const timeoutMs = Math.min(Math.max(deadline - performance.now(), shortestAttemptMs), longestAttemptMs);
    const { leastWaitMs, ...delivery } = await attempt(server, { method: 'POST', body, headers, timeoutMs });
    if (leastWaitMs === undefined || 'id' in delivery) return delivery;
    const leftMs = deadline - performance.now();
    if (leftMs <= 0 || leastWaitMs > leftMs) return delivery;
    report?.(delivery.reason);
    // Many senders do not come back at the same moment.
    await setTimeout(Math.min(Math.max(waitMs * (0.5 + Math.random() / 2), leastWaitMs), leftMs));
  }
};

/** `leastWaitMs` is set if another attempt may succeed. */
type Attempt = Delivery & { leastWaitMs?: number };

const attempt = async (server: AlertServer, request: Parameters<typeof callServer>[2]): Promise<Attempt> => {
  const { status, headers, text, reason, isLasting } = await callServer(server, 'api/alert', request);
  const { id } = parseObject(text);
  if (status === 200 && typeof id === 'string') return { id };
  if (status === 200) return { reason: `${server.url.origin} is not a signalbox server`, cause: 'server' };
  if (isPassingStatus(status)) return { reason, cause: 'away', leastWaitMs: toWaitMs(headers['retry-after']) };
  if (status === 0) return isLasting ? { reason, cause: 'server' } : { reason, cause: 'away', leastWaitMs: 0 };
  const advice = status === 401 && server.key === undefined ? `; set ${otherVariables.key}` : '';
  const cause = aboutAlert.has(status) ? 'alert' : 'server';
  return { reason: `${reason}${advice}`, cause, isStored: status === usedKey };
};

/** Milliseconds to wait as `Retry-After` says, in seconds or as a date; 0 if it says nothing. */
const toWaitMs = (header = ''): number => {
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Math.max(waitMs || 0, 0);
};
