import { formatOf, toText, toTextOrNull } from '../../kit/alert-record.ts';
import type { AlertDelivery } from '../../kit/alert-source.ts';
import { toSeverity } from '../../kit/severity.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { Alert, AlertEntry } from './schema.ts';

/** Converts a log record to the six fields of the contract. */
export const toAlert = (record: Record<string, unknown>): Alert => ({
  timestamp: toText(record['timestamp']),
  source: toText(record['source']),
  level: toText(record['level']),
  message: toText(record['message']),
  hostname: toText(record['hostname']),
  receivedAt: toText(record['receivedAt']),
});

/** Alert that resolved another alert. */
export interface Resolution {
  id: string;
  /** RFC 3339. */
  time: string;
}

/** Converts a log record to an alert as shown in search results. */
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

/** Converts a log record to an alert with its deliveries and times. */
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
