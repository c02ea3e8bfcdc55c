import { HttpError } from '../../../http/errors.ts';
import { parseTime } from '../../../http/request-headers.ts';
import type { StoredRecord } from '../../../storage/journal/read/lines.ts';
import { findSeverity, severities, toSeverity } from '../../severity.ts';
import { toAlert } from '../alert.ts';
import type { FiringAlerts } from '../firing/firing-alerts.ts';
import type { AlertDelivery, AlertEntry } from './schema.ts';

/** A stored alert as search returns it. */
export const toEntry = (
  record: StoredRecord,
  firing: FiringAlerts,
  incident: AlertEntry['incident'] = null,
): AlertEntry => {
  const alert = toAlert(record);
  return {
    seq: record.seq,
    id: record.id,
    time: toText(record['time']),
    format: toText(record['format']) ?? 'native',
    status: toText(record['status']),
    sender: toText(record['sender']),
    fingerprint: toText(record['fingerprint']),
    labels: toTexts(record['labels']),
    link: toText(record['link']),
    details: toText(record['details']),
    links: toTexts(record['links']),
    resolves: toText(record['resolves']),
    resolvedBy: firing.findResolution(record),
    incident: incident && { id: incident.id, number: incident.number },
    repeatOf: toText(record['repeatOf']),
    ...alert,
    severity: toSeverity(alert.level),
  };
};

/** Everything that is known of a stored alert. */
export const toDetails = (
  record: StoredRecord,
  firing: FiringAlerts,
  { deliveries, incident }: { deliveries: readonly AlertDelivery[]; incident: AlertEntry['incident'] },
) => ({
  ...toEntry(record, firing, incident),
  startsAt: toText(record['startsAt']),
  endsAt: toText(record['endsAt']),
  via: toText(record['via']),
  deliveries,
});

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const toTexts = (value: unknown): Record<string, string> | null =>
  typeof value === 'object' && value !== null ? (value as Record<string, string>) : null;

/** Whether a text is the same as this one, in any case. */
export const createTextTest = (wanted: string): ((text: string) => boolean) => {
  const lower = wanted.toLowerCase();
  return (text) => text === wanted || text.toLowerCase() === lower;
};

/** Whether a level means the severity that has this name; throws an HttpError if none has. */
export const createSeverityTest = (name: string): ((level: string) => boolean) => {
  const wanted = findSeverity(name);
  if (wanted) return (level) => toSeverity(level) === wanted;
  const names = severities.join(', ');
  throw new HttpError('invalid', `severity must name one of ${names}, such as critical, err, warn or info`);
};

/** A time range; Unix milliseconds. */
export interface TimeRange {
  since: number | undefined;
  until: number | undefined;
}

/** Parses the parameters `since` and `until`; throws an HttpError that names the one that is wrong. */
export const parseRange = (query: { since?: string; until?: string }): TimeRange => {
  const since = readBound('since', query.since);
  const until = readBound('until', query.until);
  if (since !== undefined && until !== undefined && since >= until) {
    throw new HttpError('invalid', 'since must be before until');
  }
  return { since, until };
};

const readBound = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (Number.isNaN(time)) {
    throw new HttpError(
      'invalid',
      `${name} must be a time as in RFC 3339 with its offset, such as 2026-01-31T09:30:00Z`,
    );
  }
  return time;
};
