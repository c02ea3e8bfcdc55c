import Type, { type Static } from 'typebox';
import { isResolvable, readTime, toText } from '../../../kit/alert-record.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';

/** Time after which an alert is resolved unless its sender repeats it. */
const AlertExpiry = Type.Object({
  /** Milliseconds from receipt to the `endsAt` given by the sender. If absent, `resolveTimeout` applies. */
  ms: Type.Optional(Type.Number()),
});
export type AlertExpiry = Static<typeof AlertExpiry>;

/** State of a series: the alerts of one sender with the same format and fingerprint. Times are Unix milliseconds. */
export const Series = Type.Object({
  /** Id and level of the most severe firing alert. Of several equally severe alerts, the last alert counts. */
  id: Type.String(),
  level: Type.String(),
  /** Ids of the latest firing alerts. Absent if `id` is the only one. */
  ids: Type.Optional(Type.Array(Type.String())),
  isResolved: Type.Boolean(),
  /** Receipt times of the first and last firing alerts. */
  since: Type.Number(),
  storedAt: Type.Number(),
  hold: Type.Optional(AlertExpiry),
});
export type Series = Static<typeof Series>;

/** Returns the key of a record's series. Undefined for an alert that cannot be resolved. */
export const toSeriesId = (record: LogRecord): string | undefined =>
  isResolvable(record)
    ? JSON.stringify([record['sender'] ?? null, record['format'] ?? null, record['fingerprint']])
    : undefined;

/**
 * Returns the expiry of a firing alert. Undefined if only its sender resolves it. As in Alertmanager, every alert from
 * `/api/v2/alerts` expires. In other formats, a past `endsAt` does not override the status `firing`.
 */
export const readExpiry = (record: LogRecord): AlertExpiry | undefined => {
  if (record['status'] !== 'firing') return undefined;
  const alwaysExpires = record['format'] === 'prometheus';
  const end = Date.parse(toText(record['endsAt']));
  if (Number.isNaN(end)) return alwaysExpires ? {} : undefined;
  const ms = end - (readTime(record) ?? end);
  return alwaysExpires || ms > 0 ? { ms: Math.max(0, ms) } : undefined;
};
