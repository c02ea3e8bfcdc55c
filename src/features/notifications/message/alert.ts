import { hash } from 'node:crypto';
import {
  formatOf,
  isResolvable,
  toText as readText,
  readTime,
  readVia,
  toKnownHost,
} from '../../../kit/alert-record.ts';
import { type Severity, toSeverity } from '../../../kit/severity.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import { toSingleLine, truncate } from './plain-text.ts';

/** Alert as sent to receivers. It depends only on the record, so repeated deliveries have identical bodies. */
export interface DeliveredAlert {
  /** Record id. */
  id: string;
  /** Time of receipt, RFC 3339. */
  time: string;
  source: string;
  level: string;
  severity: Severity;
  message: string;
  hostname: string;
  /** Intake format. `native` for `POST /api/alert`. */
  format: string;
  status?: 'firing' | 'resolved';
  fingerprint?: string;
  /** RFC 3339. */
  startsAt?: string;
  endsAt?: string;
  link?: string;
  details?: string;
  /** Additional links by name. */
  links?: Record<string, string>;
  /** Key that identifies the problem to another signalbox. Unique across all servers. */
  key?: string;
  /** In a resolution: the level of the firing alert. */
  firingLevel?: string;
  /** Id of the alert that this alert resolves. */
  resolves?: string;
  /** Resolved alert, for destination types that need its labels. */
  ended?: Pick<DeliveredAlert, 'source' | 'hostname' | 'labels'>;
  /** Id of the first alert in this series of repeats. */
  repeatOf?: string;
  labels?: Record<string, string>;
  /** Instances that have delivered the alert. Ends with this instance. */
  via: string;
  /** Server id. All instances with the same database share it. */
  origin?: string;
}

const optionalTexts = [
  ...(['fingerprint', 'startsAt', 'endsAt', 'link', 'details', 'firingLevel', 'resolves', 'repeatOf'] as const),
] as const;

/** Converts a record to the alert that `instance` delivers. */
export const toDelivered = (record: StoredRecord, instance: string, origin = instance): DeliveredAlert => {
  const { id, status, labels, links } = record;
  const alert: Omit<DeliveredAlert, 'via'> & { via?: string } = {
    id,
    time: toTime(record),
    source: readText(record['source']),
    level: readText(record['level']),
    severity: toSeverity(readText(record['level'])),
    message: readText(record['message']),
    hostname: readText(record['hostname']),
    format: formatOf(record),
  };
  if (status === 'firing' || status === 'resolved') alert.status = status;
  for (const name of optionalTexts) {
    const text = readText(record[name]);
    if (text !== '') alert[name] = text;
  }
  if (labels !== undefined) alert.labels = toTexts(labels);
  if (links !== undefined) alert.links = toTexts(links);
  if (isResolvable(record)) alert.key = toForwardedKey(record, origin);
  return Object.assign(alert, { via: [...readVia(record['via']), instance].join(', '), origin });
};

/** Returns the key for another signalbox. All senders without credentials count as one sender, as in incidents. */
const toForwardedKey = ({ sender, format, fingerprint }: StoredRecord, origin: string): string => {
  const group = readText(sender).startsWith('address:') ? '' : readText(sender);
  const mark = hash('sha256', JSON.stringify([origin, group, format ?? '']), 'hex').slice(0, 8);
  return `${readText(fingerprint)}@${mark}`;
};

const toTime = (record: StoredRecord): string => {
  const time = readText(record['time']);
  return /^\d{4}-\d\d-\d\dT/.test(time) ? time : new Date(readTime(record) ?? 0).toISOString();
};

const toTexts = (texts: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Object(texts)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** Returns the title: `ERROR backup on web-1`, or `ERROR disk is full on web-1` without a source. */
export const toAlertTitle = ({ level, source, message, hostname }: DeliveredAlert): string => {
  const [line = ''] = message.trim().split(/[\r\n]/, 1);
  const name = toSingleLine(source).trim();
  const subject = name || toSingleLine(line).trim() || (level === '' ? 'Alert' : 'alert');
  const host = toKnownHost(hostname);
  const place = name === '' && subject.includes(host) ? '' : `on ${host}`;
  return truncate(toSingleLine([level, subject, host && place].filter((part) => part !== '').join(' ')), 250);
};

/** Returns the message, details and links. Never empty. */
export const toAlertText = (alert: DeliveredAlert): string => {
  const { message, details = '', links = {} } = alert;
  const named = Object.entries(links).map(([name, url]) => `${name}: ${url}`);
  return [message || toAlertTitle(alert), details, named.join('\n')].filter((part) => part !== '').join('\n\n');
};
