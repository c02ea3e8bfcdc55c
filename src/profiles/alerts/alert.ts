import { toLocalTime, toLocalTimestamp } from '../../http/response/timestamp.ts';
import type { Alert, AlertBody } from './schema.ts';

/** Says at least one of the fields anything? */
export const isEmpty = ({ source, level, message, hostname }: AlertBody): boolean =>
  !(source || level || message || hostname);

/** The record of an alert that was received at `now`. Missing fields become empty strings. */
export const createAlert = (body: AlertBody, now: Date): Alert => ({
  timestamp: toLocalTimestamp(now),
  source: body.source ?? '',
  level: body.level ?? '',
  message: body.message ?? '',
  hostname: body.hostname ?? '',
  receivedAt: toLocalTime(now),
});

/** The alert in a record of the log: exactly the six fields, whatever else its line holds or lacks. */
export const toAlert = (record: Record<string, unknown>): Alert => ({
  timestamp: toText(record['timestamp']),
  source: toText(record['source']),
  level: toText(record['level']),
  message: toText(record['message']),
  hostname: toText(record['hostname']),
  receivedAt: toText(record['receivedAt']),
});

const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
