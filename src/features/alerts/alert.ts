import type { IncomingHttpHeaders } from 'node:http';
import { toTrace } from '../../http/text-forms.ts';
import { markResolved, toText, toViaField } from '../../kit/alert-record.ts';
import { toLocalTime, toLocalTimestamp, toOffsetTimestamp } from '../../lib/local-time.ts';
import type { LogRecord } from '../../storage/journal/line.ts';
import { clean, cleanLines } from './intake/clean-text.ts';
import { toAlertLabels } from './intake/fields.ts';
import type { ForeignAlert } from './intake/format.ts';
import { hashParts, shortenId } from './intake/hashes.ts';
import { toLink } from './intake/links.ts';
import type { Alert, AlertBody } from './schema.ts';

/** Maximum number of characters in each text of a foreign alert. */
const maxLengths = { source: 256, message: 4096, hostname: 253, fingerprint: 256, details: 4096 };

/** True if none of the fields has text. */
export const isEmpty = ({ source, level, message, hostname }: AlertBody): boolean =>
  !(source || level || message || hostname);

/** Alert as a log line. */
export type AlertRecord = Alert & {
  /** Time of receipt in RFC 3339, as local time with its offset. `timestamp` and `receivedAt` have no offset. */
  time: string;
  /**
   * `key:NAME`, `user:NAME`, `address:IP`, or `signalbox` for alerts from this server itself. Missing in lines of
   * version 1.0.
   */
  sender: string;
  /** Name of the format, e.g. `alertmanager`. Absent for native alerts. */
  format?: string;
  status?: 'firing' | 'resolved';
  /** Set if the alert acknowledges the incident with its fingerprint. */
  acknowledges?: true;
  /** Id that the sender uses for the problem. For a native alert, its `key`. */
  fingerprint?: string;
  /** RFC 3339 in UTC. Null if unknown. */
  startsAt?: string | null;
  endsAt?: string | null;
  labels?: Record<string, string>;
  /** URL with http or https. */
  link?: string;
  /** Additional text from the sender. */
  details?: string;
  /** http and https URLs by purpose, e.g. `runbook`. */
  links?: Record<string, string>;
  /**
   * In a resolution: id of the resolved alert, if known, and its level. Without a known alert, the level that the
   * sender gave.
   */
  resolves?: string;
  firingLevel?: string;
  /** In a resolution: time at which the first alert of the series was received, RFC 3339 in UTC. */
  firingSince?: string;
  /** In a reminder: the id of the first alert. */
  repeatOf?: string;
  /** Key that identifies repeats. For a request with an `Idempotency-Key`, it includes the hash of the alert. */
  key?: string;
  bodyHash?: string;
  /** Set in the resolution of an alert that its sender stopped repeating. */
  expired?: true;
  /** Set for an imported alert. Imported alerts are not sent to any destination. */
  imported?: true;
  /** Instances of signalbox that have already delivered the alert. */
  via?: string;
  /** Trace of the request (W3C Trace Context). */
  traceparent?: string;
};

/** Time and sender of a request. */
export interface Receipt {
  now: Date;
  sender: string;
}

/** Creates a record with the six fields of the contract. Missing fields become empty strings. */
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

/**
 * Creates the record of a native alert. Omits unusable members, so that an alert is never lost because of, say, a bad
 * link.
 */
export const createNativeAlert = (body: AlertBody, receipt: Receipt, headers: IncomingHttpHeaders): AlertRecord => {
  const record = createAlert(body, receipt);
  const status = readStatus(body);
  const link = toLink(body.link);
  if (status !== undefined) record.status = status;
  const key = body.key || readExtra(body, 'fingerprint');
  if (key) record.fingerprint = shortenId(key);
  const details = readExtra(body, 'details');
  if (details) record.details = cleanLines(details, maxLengths.details);
  if (body.labels !== undefined) record.labels = toAlertLabels(body.labels as Record<string, unknown>);
  if (link !== undefined) record.link = link;
  if (status === 'resolved') record.firingLevel = record.level;
  return addOrigin(record, headers);
};

/**
 * Reads a member sent by other signalbox instances. Ignores values of other types, just as the contract ignores unknown
 * members.
 */
const readExtra = (body: AlertBody, name: 'fingerprint' | 'details'): string => toText((body as LogRecord)[name]);

const readStatus = (body: AlertBody): AlertRecord['status'] => {
  const name = (body.status ?? '').toLowerCase();
  if (name === 'firing' || name === 'resolved') return name;
  return body.key || readExtra(body, 'fingerprint') ? 'firing' : undefined;
};

/** Creates the record of a foreign alert, with cleaned and truncated text fields. */
export const createForeignAlert = (
  format: string,
  alert: ForeignAlert,
  receipt: Receipt,
  headers: IncomingHttpHeaders,
): AlertRecord => {
  const { status, fingerprint, labels = {}, link, details, links, via } = alert;
  const isResolved = status === 'resolved';
  const record = createAlert(
    {
      source: clean(alert.source, maxLengths.source),
      level: isResolved ? 'INFO' : alert.level,
      message: clean(isResolved ? markResolved(alert.message) : alert.message, maxLengths.message),
      hostname: clean(alert.hostname, maxLengths.hostname),
    },
    receipt,
  );
  record.format = format;
  record.status = status;
  if (alert.acknowledges) record.acknowledges = true;
  if (fingerprint) record.fingerprint = clean(fingerprint, maxLengths.fingerprint);
  record.startsAt = alert.startsAt ?? null;
  record.endsAt = alert.endsAt ?? null;
  record.labels = labels;
  if (link) record.link = link;
  if (details) record.details = cleanLines(details, maxLengths.details);
  if (links) record.links = links;
  if (isResolved) record.firingLevel = alert.level;
  if (fingerprint) record.key = toKey(receipt.sender, format, alert);
  return addOrigin(record, headers, via);
};

/**
 * Returns the key of a series, combined with its state and severity. An alert is a repeat if the last alert with the
 * same sender, fingerprint and start had the same state and severity. An alert can fire again with its former start,
 * because Prometheus restores the start after an outage. Keys include the sender, because fingerprints are not secret.
 * A more severe alert is not a repeat.
 */
const toKey = (
  sender: string,
  format: string,
  { fingerprint, level, status, state = status, startsAt }: ForeignAlert,
): string => `${hashParts(sender, format, fingerprint, startsAt)}:${state} ${level}`;

/** Adds the instances named in the Via header and in the alert, and the trace of the request. */
const addOrigin = (record: AlertRecord, headers: IncomingHttpHeaders, via = ''): AlertRecord => {
  if (headers.via !== undefined || via !== '') Object.assign(record, toViaField(`${headers.via} ${via}`));
  if (headers['traceparent'] !== undefined) Object.assign(record, toTrace(headers));
  return record;
};
