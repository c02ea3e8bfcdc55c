import type { StoredRecord } from '../../../storage/journal/read/forward.ts';
import { toAlert } from '../alert.ts';
import type { AlertDelivery, AlertEntry } from './schema.ts';

/** A stored alert as search returns it. */
export const toEntry = (record: StoredRecord): AlertEntry => ({
  seq: record.seq,
  id: record.id,
  time: toText(record['time']),
  format: toText(record['format']) ?? 'native',
  status: toText(record['status']),
  fingerprint: toText(record['fingerprint']),
  labels: toLabels(record['labels']),
  link: toText(record['link']),
  ...toAlert(record),
});

/** Everything that is known of a stored alert. */
export const toDetails = (record: StoredRecord, deliveries: readonly AlertDelivery[]) => ({
  ...toEntry(record),
  startsAt: toText(record['startsAt']),
  endsAt: toText(record['endsAt']),
  via: toText(record['via']),
  deliveries,
});

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const toLabels = (value: unknown): Record<string, string> | null =>
  typeof value === 'object' && value !== null ? (value as Record<string, string>) : null;
