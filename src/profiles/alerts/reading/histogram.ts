import { toOffsetTimestamp } from '../../../http/response/timestamp.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { HistogramQuery } from './schema.ts';
import { parseRange } from './time.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** How many levels a histogram tells apart: anyone may send any level. */
const mostLevels = 100;

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
  const byLevel = new Map<string, number[]>();
  const countsOf = (level: string): number[] | undefined => {
    const known = byLevel.get(level);
    if (known || byLevel.size === mostLevels) return known;
    const counts = createCounts();
    byLevel.set(level, counts);
    return counts;
  };
  let isTold = true;
  const complete = await journal.countByMinute({
    since: first,
    until: last,
    maxBytes,
    add: (minute, level, count) => {
      if (query.level !== undefined && level !== query.level) {
        // Rare levels of a file with very many are counted together.
        if (level === undefined) isTold = false;
        return;
      }
      const bucket = Math.floor((minute - first) / length);
      addTo(all, bucket, count);
      const counts = level === undefined ? undefined : countsOf(level);
      if (counts) addTo(counts, bucket, count);
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
      levels: pickBucket(byLevel, bucket),
    })),
  };
};

const addTo = (counts: number[], bucket: number, count: number): void => {
  counts[bucket] = (counts[bucket] ?? 0) + count;
};

/** The counts of one bucket by level, of the levels that it has. */
const pickBucket = (byLevel: Map<string, number[]>, bucket: number): Record<string, number> => {
  // Levels may have any name.
  const levels = Object.create(null);
  for (const [level, { [bucket]: count = 0 }] of byLevel) if (count > 0) levels[level] = count;
  return levels;
};

const toTime = (minute: number): string => toOffsetTimestamp(new Date(minute * minuteMs));
