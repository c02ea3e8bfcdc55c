import type { StoredRecord } from '../../../storage/journal/line.ts';
import { formatOf, readTime, readVia, toText } from '../../offers.ts';
import { type Severity, toSeverity } from '../../severity.ts';

/** A kind of receiver. */
export interface DestinationType {
  /** As `type` in the config file. */
  name: string;
  /** Whether a destination has a secret. */
  secret: 'none' | 'optional' | 'required';
  /** The header that is the secret, in lower case; undefined if no header is. */
  secretHeader?: string;
  /** How many secrets it can use at a time; one unless stated. */
  secrets?: number;
  /** Why a secret cannot be used, as a clause that does not show it. */
  findSecretProblem?(secret: string): string | undefined;
  /** The request that delivers the alert at `now`. */
  toRequest(alert: DeliveredAlert, receiver: ReceiverAddress, now: Date): DeliveryRequest;
}

/** Where requests of a destination go. */
export interface ReceiverAddress {
  url: URL;
  /** The current secret first, then the previous one; empty if there is none. */
  secrets: readonly string[];
}

/** A request of a destination: always a POST. */
export interface DeliveryRequest {
  /** Where it goes on the destination's server: path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** An alert as destinations send it. It depends on the record alone, so a repeated delivery has the same body. */
export interface DeliveredAlert {
  /** The record's id. */
  id: string;
  /** Time of receipt, RFC 3339. */
  time: string;
  source: string;
  level: string;
  severity: Severity;
  message: string;
  hostname: string;
  /** The intake format; `native` for `POST /api/alert`. */
  format: string;
  status?: 'firing' | 'resolved';
  fingerprint?: string;
  /** RFC 3339. */
  startsAt?: string;
  endsAt?: string;
  link?: string;
  /** More than the message says, and further links by their names. */
  details?: string;
  links?: Record<string, string>;
  /** The id of the alert that this one resolves. */
  resolves?: string;
  /** The id of the first alert that this one repeats. */
  repeatOf?: string;
  labels?: Record<string, string>;
  /** The instances that have delivered it, this one last. */
  via: string;
}

const optionalTexts = ['fingerprint', 'startsAt', 'endsAt', 'link', 'details', 'resolves', 'repeatOf'] as const;

/** The alert of a record, delivered by `instance`. */
export const toDelivered = (record: StoredRecord, instance: string): DeliveredAlert => {
  const { id, status, labels, links } = record;
  const alert: Omit<DeliveredAlert, 'via'> & { via?: string } = {
    id,
    time: toTime(record),
    source: toText(record['source']),
    level: toText(record['level']),
    severity: toSeverity(toText(record['level'])),
    message: toText(record['message']),
    hostname: toText(record['hostname']),
    format: formatOf(record),
  };
  if (status === 'firing' || status === 'resolved') alert.status = status;
  for (const name of optionalTexts) {
    const text = toText(record[name]);
    if (text !== '') alert[name] = text;
  }
  if (labels !== undefined) alert.labels = toTexts(labels);
  if (links !== undefined) alert.links = toTexts(links);
  return Object.assign(alert, { via: [...readVia(record['via']), instance].join(', ') });
};

const toTime = (record: StoredRecord): string => {
  const time = toText(record['time']);
  return /^\d{4}-\d\d-\d\dT/.test(time) ? time : new Date(readTime(record) ?? 0).toISOString();
};

const toTexts = (texts: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(Object(texts)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** Path and query of the URL as it is configured. */
export const toPath = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** The path with `end` appended, unless it ends so already. */
export const toPathWith = ({ pathname, search }: URL, end: string): string => {
  const base = pathname.replace(/\/+$/, '');
  return `${base.endsWith(end) ? base : `${base}${end}`}${search}`;
};

export const jsonType = { 'content-type': 'application/json' };

/** The header of receivers, or proxies before them, that take a token. */
export const toBearer = ([secret]: readonly string[]): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` };

/** How urgent receivers show an alert. */
export type Urgency = 'critical' | 'error' | 'warning' | 'info' | 'resolved';

const urgencies: Record<Severity, Urgency> = { CRITICAL: 'critical', ERROR: 'error', WARNING: 'warning', INFO: 'info' };

export const toUrgency = ({ severity, status }: DeliveredAlert): Urgency =>
  status === 'resolved' ? 'resolved' : urgencies[severity];

/** One line about the alert: `ERROR backup on web-1`. */
export const toTitle = ({ level, source, hostname }: DeliveredAlert): string => {
  const place = hostname === '' ? '' : `on ${hostname}`;
  return truncate([level, source, place].filter((part) => part !== '').join(' ') || 'Alert', 250);
};

/** What receivers show below the title: message, details and links; never empty. */
export const toBody = (alert: DeliveredAlert, maxBytes: number): string => {
  const { message, details = '', links = {} } = alert;
  const named = Object.entries(links).map(([name, url]) => `${name}: ${url}`);
  const parts = [message || toTitle(alert), details, named.join('\n')];
  return truncate(parts.filter((part) => part !== '').join('\n\n'), maxBytes);
};

/** The text within `maxBytes` of UTF-8; an ellipsis marks what is cut off. */
export const truncate = (text: string, maxBytes: number): string => {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - 3);
  // A character that was cut in half decodes as U+FFFD.
  return `${cut.toString().replace(/\uFFFD+$/, '')}…`;
};
