import { createHash } from 'node:crypto';
import { toLocalTime, toLocalTimestamp, toOffsetTimestamp } from '../../http/timestamp.ts';
import { toLabels, toLink } from './intake/fields.ts';
import type { Alert, AlertBody } from './schema.ts';

/** True if no field has any text. */
export const isEmpty = ({ source, level, message, hostname }: AlertBody): boolean =>
  !(source || level || message || hostname);

/** What the log keeps of an alert. */
export type AlertRecord = Alert & {
  /** Time of receipt as in RFC 3339, in local time with its offset: unlike the other two it names one instant. */
  time: string;
  /** Who sent it: `key:NAME`, `user:NAME`, `address:IP`, or `signalbox` itself. Lines of version 1.0 have none. */
  sender: string;
  /** The path that it was sent to, e.g. `alertmanager`; never `auto`. */
  format?: string;
  status?: 'firing' | 'resolved';
  /** The sender's own id of what the alert is about; a native alert's `key`. */
  fingerprint?: string;
  /** RFC 3339 in UTC; null if not known. */
  startsAt?: string | null;
  endsAt?: string | null;
  labels?: Record<string, string>;
  /** An http or https URL. */
  link?: string;
  /** What else its sender says about it. */
  details?: string;
  /** http and https URLs by what they lead to, e.g. `runbook`. */
  links?: Record<string, string>;
  /** Of a resolved alert: the id of the one that it ends, if that is known, and its level, or the one that the sender gives. */
  resolves?: string;
  firingLevel?: string;
  /** Of a repeat that was stored to remind of the first: the id of that. */
  repeatOf?: string;
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

/** When an alert was received, and from whom. */
export interface Receipt {
  now: Date;
  sender: string;
}

/** The record of an alert with the six fields. Missing ones become empty strings. */
export const createAlert = (body: AlertBody, { now, sender }: Receipt): AlertRecord => ({
  timestamp: toLocalTimestamp(now),
  source: body.source ?? '',
  level: body.level ?? '',
  message: body.message ?? '',
  hostname: body.hostname ?? '',
  receivedAt: toLocalTime(now),
  time: toOffsetTimestamp(now),
  sender,
});

/** The most characters of a key. */
const longestKey = 256;

/**
 * The record of a native alert with all that its sender says. What cannot be used is left out: no alert is lost for a link that
 * is none.
 */
export const createNativeAlert = (body: AlertBody, receipt: Receipt): AlertRecord => {
  const record = createAlert(body, receipt);
  const status = readStatus(body);
  const link = toLink(body.link);
  if (status !== undefined) record.status = status;
  if (body.key) record.fingerprint = toShortKey(body.key);
  if (body.labels !== undefined) record.labels = toLabels(body.labels as Record<string, unknown>);
  if (link !== undefined) record.link = link;
  if (status === 'resolved') record.firingLevel = record.level;
  return record;
};

const readStatus = ({ key, status = '' }: AlertBody): AlertRecord['status'] => {
  const name = status.toLowerCase();
  if (name === 'firing' || name === 'resolved') return name;
  return key ? 'firing' : undefined;
};

/** A key that is too long keeps its beginning and a hash of all of it, so that no other key is the same. */
const toShortKey = (key: string): string =>
  key.length <= longestKey
    ? key
    : `${key.slice(0, longestKey - 23)}-${createHash('sha256').update(key).digest('base64url').slice(0, 22)}`;

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
