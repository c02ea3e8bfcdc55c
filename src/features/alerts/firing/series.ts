import Type, { type Static } from 'typebox';
import { isResolvable, readTime, toText } from '../../../kit/alert-record.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';

/** Time after which an alert is resolved unless its sender repeats it. */
const AlertExpiry = Type.Object({
  /** Milliseconds from the receipt to the `endsAt` of the sender; `resolveTimeout` applies if absent. */
  ms: Type.Optional(Type.Number()),
});
export type AlertExpiry = Static<typeof AlertExpiry>;

/** State of a series: the alerts of one sender with one format and fingerprint. Times are Unix milliseconds. */
export const Series = Type.Object({
  /** Id of the worst firing alert, of several equally bad alerts the last, and its level. */
  id: Type.String(),
  level: Type.String(),
  /** Ids of the last firing alerts; absent if `id` is the only firing alert. */
  ids: Type.Optional(Type.Array(Type.String())),
  isResolved: Type.Boolean(),
  /** Receipt of the first and of the last firing alert. */
  since: Type.Number(),
  storedAt: Type.Number(),
  hold: Type.Optional(AlertExpiry),
});
export type Series = Static<typeof Series>;

/** Returns the key of a record's series; undefined for an alert that nothing resolves. */
export const toSeriesKey = (record: LogRecord): string | undefined =>
  isResolvable(record)
    ? JSON.stringify([record['sender'] ?? null, record['format'] ?? null, record['fingerprint']])
    : undefined;

/**
 * Returns the expiry of a firing alert; undefined if only its sender resolves the alert. Like Alertmanager, signalbox lets every alert of
 * `/api/v2/alerts` expire. In other formats, an `endsAt` in the past does not outweigh the status `firing`.
 */
export const readExpiry = (record: LogRecord): AlertExpiry | undefined => {
  if (record['status'] !== 'firing') return undefined;
  const alwaysExpires = record['format'] === 'prometheus';
  const end = Date.parse(toText(record['endsAt']));
  if (Number.isNaN(end)) return alwaysExpires ? {} : undefined;
  const ms = end - (readTime(record) ?? end);
  return alwaysExpires || ms > 0 ? { ms: Math.max(0, ms) } : undefined;
};
