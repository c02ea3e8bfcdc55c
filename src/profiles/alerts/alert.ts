import { toLocalTime, toLocalTimestamp, toOffsetTimestamp } from '../../http/response/timestamp.ts';
import type { Alert, AlertBody } from './schema.ts';

/** True if no field has any text. */
export const isEmpty = ({ source, level, message, hostname }: AlertBody): boolean =>
  !(source || level || message || hostname);

/** What the log keeps of an alert. Only those of other programs have what comes after `time`. */
export type AlertRecord = Alert & {
  /** Time of receipt as in RFC 3339, in local time with its offset: unlike the other two it names one instant. */
  time: string;
  /** The path that it was sent to, e.g. `alertmanager`; never `auto`. */
  format?: string;
  status?: 'firing' | 'resolved';
  /** The sender's own id of what the alert is about. */
  fingerprint?: string;
  /** RFC 3339 in UTC; null if not known. */
  startsAt?: string | null;
  endsAt?: string | null;
  labels?: Record<string, string>;
  /** An http or https URL. */
  link?: string;
  /** By which a repeat is recognized; and the hash of what was sent with an `Idempotency-Key`. */
  key?: string;
  bodyHash?: string;
  /** It was stored by an import, so that no destination gets it. */
  imported?: true;
  /** The signalbox instances that delivered it before, as received. */
  via?: string;
  /** Of the request that it came with (W3C Trace Context). */
  traceparent?: string;
};

/** The record of an alert that was received at `now`. Missing fields become empty strings. */
export const createAlert = (body: AlertBody, now: Date): AlertRecord => ({
  timestamp: toLocalTimestamp(now),
  source: body.source ?? '',
  level: body.level ?? '',
  message: body.message ?? '',
  hostname: body.hostname ?? '',
  receivedAt: toLocalTime(now),
  time: toOffsetTimestamp(now),
});

/** The alert in a record of the log: exactly these six fields, even if the line has others. */
export const toAlert = (record: Record<string, unknown>): Alert => ({
  timestamp: toText(record['timestamp']),
  source: toText(record['source']),
  level: toText(record['level']),
  message: toText(record['message']),
  hostname: toText(record['hostname']),
  receivedAt: toText(record['receivedAt']),
});

/** When the alert in a record was received, in Unix milliseconds; undefined where its line does not say. */
export const readTime = ({ time, timestamp }: Record<string, unknown>): number | undefined => {
  // Version 0.1 wrote only local times.
  const read = Date.parse(toText(time) || toText(timestamp));
  return Number.isNaN(read) ? undefined : read;
};

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
