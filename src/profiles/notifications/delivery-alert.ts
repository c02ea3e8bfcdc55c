import type { StoredRecord } from '../../storage/journal/read/lines.ts';
import { type Severity, toSeverity } from '../severity.ts';
import { readVia } from '../via.ts';

/** An alert as destinations send it. It depends on the record alone, so a repeated delivery has the same body. */
export interface OutgoingAlert {
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
  labels?: Record<string, string>;
  link?: string;
  /** More than the message says, and further links by their names. */
  details?: string;
  links?: Record<string, string>;
  /** The id of the alert that this one resolves. */
  resolves?: string;
  /** The id of the first alert that this one repeats. */
  repeatOf?: string;
  /** The instances that have delivered it, this one last. */
  via: string;
}

/** The alert of a record, delivered by `instance`. */
export const toOutgoing = (record: StoredRecord, instance: string): OutgoingAlert => {
  const { status } = record;
  return {
    id: record.id,
    time: toTime(record),
    source: toText(record['source']),
    level: toText(record['level']),
    severity: toSeverity(toText(record['level'])),
    message: toText(record['message']),
    hostname: toText(record['hostname']),
    format: formatOf(record),
    ...((status === 'firing' || status === 'resolved') && { status }),
    ...pickTexts(record, ['fingerprint', 'startsAt', 'endsAt', 'link', 'details', 'resolves', 'repeatOf']),
    ...(record['labels'] !== undefined && { labels: toTexts(record['labels']) }),
    ...(record['links'] !== undefined && { links: toTexts(record['links']) }),
    via: [...readVia(record['via']), instance].join(', '),
  };
};

/** When the record was received, in milliseconds of Unix time. Records of early versions have only local time. */
export const toReceivedAt = ({ time, timestamp }: StoredRecord): number =>
  Date.parse(toText(time)) || Date.parse(toText(timestamp)) || 0;

const toTime = (record: StoredRecord): string =>
  Number.isNaN(Date.parse(toText(record['time'])))
    ? new Date(toReceivedAt(record)).toISOString()
    : toText(record['time']);

/** The intake format of a record. */
export const formatOf = ({ format }: StoredRecord): string => toText(format) || 'native';

const pickTexts = (record: StoredRecord, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (toText(record[name]) === '' ? [] : [[name, toText(record[name])]])));

const toTexts = (texts: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(Object(texts)).filter((entry): entry is [string, string] => isText(entry[1])));

const isText = (value: unknown): value is string => typeof value === 'string';

const toText = (value: unknown): string => (isText(value) ? value : '');
