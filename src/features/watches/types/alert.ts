import { formatOf, readTime, toText } from '../../../kit/alert-record.ts';
import { minuteMs } from '../../../lib/units.ts';
import { createLikeTest } from '../../../lib/wildcards.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';
import { mostCounted } from '../alert-counts.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, type WatchReadings } from '../type.ts';

/** How much of the log is read at a time. */
const maxBytes = 16 * 1024 * 1024;

/** Alerts are in the log only a moment after their time, and later still if the clock of another instance is slow. */
const overlapMs = minuteMs;

/** When the last alert that a watch has found was received, and until when it has looked. */
const known = new WeakMap<WatchSettings, { lastAt: number | undefined; until: number }>();

/** No alerts from a source for some time, or too many. */
export const alertWatch = defineWatchType({
  name: 'alert',
  scope: () => 'network',
  keys: ['source', 'metric', 'minutes'],
  required: ['source'],
  limit: 'required',
  every: 60,
  findProblem: ({ metric = 'silence', minutes, limit = 0, critical = limit }) => {
    if (metric !== 'silence' && metric !== 'count') return 'metric must be silence or count';
    if (metric === 'silence') return minutes === undefined ? undefined : 'minutes is for metric count alone';
    const name = limit < mostCounted ? 'critical' : 'limit';
    return critical < mostCounted ? undefined : `${name} must be below ${mostCounted}: no more alerts are counted`;
  },
  check: async (watch, readings, signal) => {
    const now = readings.clock().getTime();
    return [
      watch.metric === 'count' ? await count(watch, readings, now) : await measureSilence(watch, readings, now, signal),
    ];
  },
});

const notMounted = 'alerts are not mounted';

const count = async (watch: WatchSettings, { alertCounts }: WatchReadings, now: number): Promise<Finding> => {
  const { source: thing = '', minutes = 60 } = watch;
  if (!alertCounts) throw new Error(notMounted);
  const figure = await alertCounts.count(thing, minutes * minuteMs, now);
  return { thing, figure, toText: String, words: `${figure} alerts from ${thing} within ${minutes} minutes` };
};

const measureSilence = async (
  watch: WatchSettings,
  readings: WatchReadings,
  now: number,
  signal: AbortSignal,
): Promise<Finding> => {
  const { source: thing = '', limit = 0, critical = 0 } = watch;
  const longest = Math.max(limit, critical);
  const isWanted = createLikeTest(thing);
  const heardMs = await readings.silenceOf?.(isWanted);
  const findLast = (since: number) => searchLast(readings, isWanted, since, signal);
  const minutes = heardMs === undefined ? await measureInLog(watch, findLast, longest, now) : heardMs / minuteMs;
  const toText = (count: number): string => `${Math.floor(count)} minutes`;
  const words =
    minutes === undefined
      ? `no alert from ${thing} for more than ${toText(longest)}`
      : `the last alert from ${thing} came ${toText(minutes)} ago`;
  return { thing, figure: minutes ?? longest + 1, toText, words };
};

/** The last alert of wanted sources since a time; those of watches are none. */
const searchLast = async (
  { journal }: WatchReadings,
  isWanted: (source: string) => boolean,
  since: number,
  signal: AbortSignal,
): Promise<LogRecord | undefined> => {
  if (!journal) throw new Error(notMounted);
  const test = (record: LogRecord): boolean => formatOf(record) !== 'watch' && isWanted(toText(record['source']));
  for (let before: number | undefined; ; ) {
    const { records, next } = await journal.search({ since, before, limit: 1, maxBytes, test });
    if (next === undefined || records.length > 0) return records[0];
    if (signal.aborted) throw new Error('there are too many alerts to read them in time');
    before = next;
  }
};

/** Minutes since the last stored alert, which is all that is known of what came before the first start of this version. */
const measureInLog = async (
  watch: WatchSettings,
  findLast: (since: number) => Promise<LogRecord | undefined>,
  longest: number,
  now: number,
): Promise<number | undefined> => {
  const before = known.get(watch);
  // The clock may have been set back.
  const since = before && before.until <= now ? before.until - overlapMs : now - (longest + 1) * minuteMs;
  const last = await findLast(since);
  const times = [last && readTime(last), before?.lastAt].filter((at) => at !== undefined);
  const lastAt = times.length > 0 ? Math.min(now, Math.max(...times)) : undefined;
  known.set(watch, { lastAt, until: now });
  return lastAt === undefined ? undefined : Math.max(0, (now - lastAt) / minuteMs);
};
