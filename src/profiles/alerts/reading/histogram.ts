import { toOffsetTimestamp } from '../../../http/timestamp.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { type Severity, severities, toSeverity } from '../../severity.ts';
import { createSeverityTest, createTextTest, parseRange } from './entry.ts';
import type { HistogramQuery } from './schema.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** Counts alerts in buckets of whole minutes, by default of the last 24 hours; reads at most `maxBytes` of the log. */
export const countAlerts = async (journal: RecordLog, query: HistogramQuery, now: Date, maxBytes: number) => {
  const range = parseRange(query);
  const until = range.until ?? Math.max(now.getTime(), (range.since ?? 0) + minuteMs);
  const end = Math.ceil(until / minuteMs);
  const first = range.since === undefined ? end - dayMinutes : Math.floor(range.since / minuteMs);
  const minutes = end - first;
  const length = Math.ceil(minutes / query.buckets);
  const buckets = Math.ceil(minutes / length);
  const last = first + buckets * length;
  const createCounts = (): number[] => Array(buckets).fill(0);
  const all = createCounts();
  const bySeverity = new Map(severities.map((severity) => [severity, createCounts()]));
  const isLevel = query.level === undefined ? undefined : createTextTest(query.level);
  const isSeverity = query.severity === undefined ? undefined : createSeverityTest(query.severity);
  let isTold = true;
  const complete = await journal.countByMinute({
    since: first,
    until: last,
    maxBytes,
    add: (minute, level, count) => {
      // Rare levels of a file with very many are counted together; few of them are names that are known.
      if (level === undefined && isLevel) isTold = false;
      if (isLevel && (level === undefined || !isLevel(level))) return;
      if (isSeverity && !isSeverity(level ?? '')) return;
      const bucket = Math.floor((minute - first) / length);
      addTo(all, bucket, count);
      addTo(bySeverity.get(toSeverity(level ?? '')) ?? [], bucket, count);
    },
  });
  return {
    since: toTime(first),
    until: toTime(last),
    bucketSeconds: length * 60,
    complete: complete && isTold,
    buckets: all.map((count, bucket) => ({
      time: toTime(first + bucket * length),
      count,
      levels: pickBucket(bySeverity, bucket),
    })),
  };
};

const addTo = (counts: number[], bucket: number, count: number): void => {
  counts[bucket] = (counts[bucket] ?? 0) + count;
};

/** The counts of one bucket, of the severities that it has. */
const pickBucket = (bySeverity: Map<Severity, number[]>, bucket: number): Partial<Record<Severity, number>> =>
  Object.fromEntries([...bySeverity].map(([name, counts]) => [name, counts[bucket] ?? 0]).filter(([, count]) => count));

const toTime = (minute: number): string => toOffsetTimestamp(new Date(minute * minuteMs));
