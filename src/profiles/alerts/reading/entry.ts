import type { StoredRecord } from '../../../storage/journal/read/forward.ts';
import { toSeverity } from '../../severity.ts';
import { toAlert } from '../alert.ts';
import type { FiringAlerts } from '../firing/firing-alerts.ts';
import type { AlertDelivery, AlertEntry } from './schema.ts';

/** A stored alert as search returns it. */
export const toEntry = (record: StoredRecord, firing: FiringAlerts): AlertEntry => {
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
    repeatOf: toText(record['repeatOf']),
    ...alert,
    severity: toSeverity(alert.level),
  };
};

/** Everything that is known of a stored alert. */
export const toDetails = (record: StoredRecord, firing: FiringAlerts, deliveries: readonly AlertDelivery[]) => ({
  ...toEntry(record, firing),
  startsAt: toText(record['startsAt']),
  endsAt: toText(record['endsAt']),
  via: toText(record['via']),
  deliveries,
});

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const toTexts = (value: unknown): Record<string, string> | null =>
  typeof value === 'object' && value !== null ? (value as Record<string, string>) : null;
