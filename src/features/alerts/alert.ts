import type { IncomingHttpHeaders } from 'node:http';
import { toTrace } from '../../http/text-forms.ts';
import { formatOf, markResolved, toText, toTextOrNull, toViaField } from '../../kit/alert-record.ts';
import type { AlertDelivery } from '../../kit/alert-source.ts';
import { toSeverity } from '../../kit/severity.ts';
import { toLocalTime, toLocalTimestamp, toOffsetTimestamp } from '../../lib/local-time.ts';
import type { LogRecord, StoredRecord } from '../../storage/journal/line.ts';
import { clean, cleanLines } from './intake/clean-text.ts';
import { toAlertLabels } from './intake/fields.ts';
import type { ForeignAlert } from './intake/format.ts';
import { hashParts, toShortKey } from './intake/hashes.ts';
import { toLink } from './intake/links.ts';
import type { Alert, AlertBody, AlertEntry } from './schema.ts';

/** The most characters of each text of a foreign alert. */
const caps = { source: 256, message: 4096, hostname: 253, fingerprint: 256, details: 4096 };

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
  /** Acknowledges the incident of its fingerprint. */
  acknowledges?: true;
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
  /** When the first alert that it ends was received, RFC 3339 in UTC. */
  firingSince?: string;
  /** Of a repeat that was stored to remind of the first: the id of that. */
  repeatOf?: string;
  /** By which a repeat is recognized; and the hash of what was sent with an `Idempotency-Key`. */
  key?: string;
  bodyHash?: string;
  /** Of a resolved alert: its sender has not repeated it in time. */
  expired?: true;
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

/** The record of a native alert. What cannot be used is left out: no alert is lost for a link that is none. */
export const createNativeAlert = (body: AlertBody, receipt: Receipt, headers: IncomingHttpHeaders): AlertRecord => {
  const record = createAlert(body, receipt);
  const status = readStatus(body);
  const link = toLink(body.link);
  if (status !== undefined) record.status = status;
  const key = body.key || readExtra(body, 'fingerprint');
  if (key) record.fingerprint = toShortKey(key);
  const details = readExtra(body, 'details');
  if (details) record.details = cleanLines(details, caps.details);
  if (body.labels !== undefined) record.labels = toAlertLabels(body.labels as Record<string, unknown>);
  if (link !== undefined) record.link = link;
  if (status === 'resolved') record.firingLevel = record.level;
  return addOrigin(record, headers);
};

/** What destinations of another signalbox send besides; as the contract ignores other members, those of other types are none. */
const readExtra = (body: AlertBody, name: 'fingerprint' | 'details'): string => toText((body as LogRecord)[name]);

const readStatus = (body: AlertBody): AlertRecord['status'] => {
  const name = (body.status ?? '').toLowerCase();
  if (name === 'firing' || name === 'resolved') return name;
  return body.key || readExtra(body, 'fingerprint') ? 'firing' : undefined;
};

/** The record of a foreign alert, with its texts cleaned and cut. */
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
      source: clean(alert.source, caps.source),
      level: isResolved ? 'INFO' : alert.level,
      message: clean(isResolved ? markResolved(alert.message) : alert.message, caps.message),
      hostname: clean(alert.hostname, caps.hostname),
    },
    receipt,
  );
  record.format = format;
  record.status = status;
  if (alert.acknowledges) record.acknowledges = true;
  if (fingerprint) record.fingerprint = clean(fingerprint, caps.fingerprint);
  record.startsAt = alert.startsAt ?? null;
  record.endsAt = alert.endsAt ?? null;
  record.labels = labels;
  if (link) record.link = link;
  if (details) record.details = cleanLines(details, caps.details);
  if (links) record.links = links;
  if (isResolved) record.firingLevel = alert.level;
  if (fingerprint) record.key = toKey(receipt.sender, format, alert);
  return addOrigin(record, headers, via);
};

/**
 * What makes an alert a repeat: the same sender, fingerprint and start, whose last one had the same state and severity. An
 * alert may fire again after it was resolved, even with its former start: Prometheus restores that after an outage. Others
 * may know a fingerprint, so those of one sender say nothing about those of another, and a repeat that is worse than the
 * first is none.
 */
const toKey = (
  sender: string,
  format: string,
  { fingerprint, level, status, state = status, startsAt }: ForeignAlert,
): string => `${hashParts(sender, format, fingerprint, startsAt)}:${state} ${level}`;

/** Adds the instances that the request's header Via, or the alert, names as those that have delivered it; and the trace. */
const addOrigin = (record: AlertRecord, headers: IncomingHttpHeaders, via = ''): AlertRecord => {
  if (headers.via !== undefined || via !== '') Object.assign(record, toViaField(`${headers.via} ${via}`));
  if (headers['traceparent'] !== undefined) Object.assign(record, toTrace(headers));
  return record;
};

/** The alert in a record of the log: exactly these six fields, even if the line has others. */
export const toAlert = (record: Record<string, unknown>): Alert => ({
  timestamp: toText(record['timestamp']),
  source: toText(record['source']),
  level: toText(record['level']),
  message: toText(record['message']),
  hostname: toText(record['hostname']),
  receivedAt: toText(record['receivedAt']),
});

/** The alert that ended another one. */
export interface Resolution {
  id: string;
  /** RFC 3339. */
  time: string;
}

/** A stored alert as search returns it. */
export const toEntry = (
  record: StoredRecord,
  resolvedBy: Resolution | null,
  incident: AlertEntry['incident'] = null,
): AlertEntry => {
  const alert = toAlert(record);
  return {
    seq: record.seq,
    id: record.id,
    time: toTextOrNull(record['time']),
    format: formatOf(record),
    status: toTextOrNull(record['status']),
    sender: toTextOrNull(record['sender']),
    fingerprint: toTextOrNull(record['fingerprint']),
    labels: toTextsOrNull(record['labels']),
    link: toTextOrNull(record['link']),
    details: toTextOrNull(record['details']),
    links: toTextsOrNull(record['links']),
    resolves: toTextOrNull(record['resolves']),
    resolvedBy,
    incident: incident && { id: incident.id, number: incident.number },
    repeatOf: toTextOrNull(record['repeatOf']),
    ...alert,
    severity: toSeverity(alert.level),
  };
};

/** Everything that is known of a stored alert. */
export const toAlertDetails = (
  record: StoredRecord,
  resolvedBy: Resolution | null,
  { deliveries, incident }: { deliveries: readonly AlertDelivery[]; incident: AlertEntry['incident'] },
) => ({
  ...toEntry(record, resolvedBy, incident),
  startsAt: toTextOrNull(record['startsAt']),
  endsAt: toTextOrNull(record['endsAt']),
  via: toTextOrNull(record['via']),
  deliveries,
});

const toTextsOrNull = (value: unknown): Record<string, string> | null =>
  typeof value === 'object' && value !== null ? (value as Record<string, string>) : null;
