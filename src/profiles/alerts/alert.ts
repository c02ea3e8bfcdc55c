import { toLocalTime, toLocalTimestamp, toOffsetTimestamp } from '../../http/response/timestamp.ts';
import type { Alert, AlertBody } from './schema.ts';

/** True if no field has any text. */
export const isEmpty = ({ source, level, message, hostname }: AlertBody): boolean =>
  !(source || level || message || hostname);

/** What the log keeps of an alert. */
interface AlertRecord extends Alert {
  /** Time of receipt as in RFC 3339, in local time with its offset: unlike the other two it names one instant. */
  time: string;
}

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

/** The alert in a record of the log: exactly the six fields, whatever its line holds. */
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
