import { readTime } from '../../../kit/alert-record.ts';
import { type Severity, severities, toSeverity } from '../../../kit/severity.ts';
import { toOffsetTimestamp } from '../../../lib/local-time.ts';
import { minuteMs } from '../../../lib/units.ts';
import { createFilterTest } from '../../../lib/wildcards.ts';
import type { Counting } from '../../../storage/journal/read/search.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import type { HistogramQuery } from '../schema.ts';
import { type AlertFilters, createSeverityTest, createTextTest, parseRange, toFieldTests } from './filters.ts';
import { maxReadBytes } from './read-limit.ts';

const dayMinutes = 24 * 60;

/** Minutes since 1970. `until` is exclusive. */
type Window = Pick<Counting, 'since' | 'until'>;
type Add = (minute: number, level: string, count: number) => void;

/** Counts alerts in buckets of whole minutes. Covers the last 24 hours by default. */
export const countAlerts = async (journal: RecordLog, query: HistogramQuery, now: Date) => {
  const { first, last, length } = planBuckets(query, now);
  const createCounts = (): number[] => Array((last - first) / length).fill(0);
  const all = createCounts();
  const bySeverity = new Map(severities.map((severity) => [severity, createCounts()]));
  const add: Add = (minute, level, count) => {
    const bucket = Math.floor((minute - first) / length);
    addTo(all, bucket, count);
    addTo(bySeverity.get(toSeverity(level)) ?? [], bucket, count);
  };
  const count = isIndexed(query) ? countIndexed : countFound;
  const complete = await count(journal, query, { since: first, until: last }, add);
  return {
    since: toTime(first),
    until: toTime(last),
    bucketSeconds: length * 60,
    complete,
    buckets: all.map((sum, bucket) => ({
      time: toTime(first + bucket * length),
      count: sum,
      levels: pickBucket(bySeverity, bucket),
    })),
  };
};

/** Returns the first minute of the first bucket, the minute after the last bucket, and the minutes per bucket. */
const planBuckets = (query: HistogramQuery, now: Date) => {
  const { since, until = Math.max(now.getTime(), (since ?? 0) + minuteMs) } = parseRange(query);
  const end = Math.ceil(until / minuteMs);
  const first = since === undefined ? end - dayMinutes : Math.floor(since / minuteMs);
  const length = Math.ceil((end - first) / query.buckets);
  return { first, last: first + Math.ceil((end - first) / length) * length, length };
};

/** True if the log's index suffices for the filters. The index contains the level of every alert. */
const isIndexed = ({ source, hostname, status, q }: AlertFilters): boolean =>
  [source, hostname, status, q].every((filter) => filter === undefined);

/** Counts alerts using the index of the log. Resolves to true if all alerts in the window have been counted. */
const countIndexed = async (journal: RecordLog, query: AlertFilters, window: Window, add: Add): Promise<boolean> => {
  const isLevel = query.level === undefined ? undefined : createFilterTest(query.level);
  const isSeverity = query.severity === undefined ? undefined : createSeverityTest(query.severity);
  let hasAllLevels = true;
  const complete = await journal.countByMinute({
    ...window,
    maxBytes: maxReadBytes,
    add: (minute, level, count) => {
      // In a file with very many levels, rare levels share one count. Few rare levels are severities.
      if (level === undefined && isLevel) hasAllLevels = false;
      if (isLevel && (level === undefined || !isLevel(level))) return;
      if (isSeverity && !isSeverity(level ?? '')) return;
      add(minute, level ?? '', count);
    },
  });
  return complete && hasAllLevels;
};

/** Counts alerts by searching. Resolves to false if the search stops before it reaches the start of the window. */
const countFound = async (
  journal: RecordLog,
  query: AlertFilters,
  { since, until }: Window,
  add: Add,
): Promise<boolean> => {
  const hasText = createTextTest(query.q);
  const { next } = await journal.search({
    since: since * minuteMs,
    until: until * minuteMs,
    match: toFieldTests(query),
    // A search without results keeps no records in memory.
    test: (record) => {
      const time = readTime(record);
      if (time !== undefined && hasText(record)) add(Math.floor(time / minuteMs), String(record['level'] ?? ''), 1);
      return false;
    },
    limit: 1,
    maxBytes: maxReadBytes,
  });
  return next === undefined;
};

const addTo = (counts: number[], bucket: number, count: number): void => {
  counts[bucket] = (counts[bucket] ?? 0) + count;
};

/** Returns the counts of a bucket by severity. Omits zeros. */
const pickBucket = (bySeverity: Map<Severity, number[]>, bucket: number): Partial<Record<Severity, number>> =>
  Object.fromEntries([...bySeverity].map(([name, counts]) => [name, counts[bucket] ?? 0]).filter(([, count]) => count));

const toTime = (minute: number): string => toOffsetTimestamp(new Date(minute * minuteMs));
