import { toOffsetTimestamp } from '../../../http/response/timestamp.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { HistogramQuery } from './schema.ts';
import { parseRange } from './time.ts';

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** How many levels a histogram tells apart: anyone may send any level. */
const mostLevels = 100;

interface Bucket {
  time: string;
  count: number;
  levels: Record<string, number>;
}

/** Counts alerts in buckets of whole minutes, by default of the last 24 hours; reads at most `maxBytes` of the log. */
export const countAlerts = async (journal: RecordLog, query: HistogramQuery, now: Date, maxBytes: number) => {
  const range = parseRange(query);
  const until = range.until ?? Math.max(now.getTime(), (range.since ?? 0) + minuteMs);
  const end = Math.ceil(until / minuteMs);
  const first = range.since === undefined ? end - dayMinutes : Math.floor(range.since / minuteMs);
  const minutes = end - first;
  const length = Math.ceil(minutes / query.buckets);
  const buckets = Array.from(
    { length: Math.ceil(minutes / length) },
    (_, index): Bucket => ({
      time: toTime(first + index * length),
      count: 0,
      // Levels may have any name.
      levels: Object.create(null),
    }),
  );
  const last = first + buckets.length * length;
  const levels = new Set<string>();
  let isTold = true;
  const complete = await journal.countByMinute({
    since: first,
    until: last,
    maxBytes,
    add: (minute, level, count) => {
      const bucket = buckets[Math.floor((minute - first) / length)];
      if (!bucket) return;
      if (query.level !== undefined && level !== query.level) {
        // Rare levels of a file with very many are counted together.
        if (level === undefined) isTold = false;
        return;
      }
      bucket.count += count;
      if (level === undefined || (levels.size === mostLevels && !levels.has(level))) return;
      levels.add(level);
      bucket.levels[level] = (bucket.levels[level] ?? 0) + count;
    },
  });
  return {
    since: toTime(first),
    until: toTime(last),
    bucketSeconds: length * 60,
    complete: complete && isTold,
    buckets,
  };
};

const toTime = (minute: number): string => toOffsetTimestamp(new Date(minute * minuteMs));
