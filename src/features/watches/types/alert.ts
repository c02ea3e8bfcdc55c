import { formatOf, readTime, toText } from '../../../kit/alert-record.ts';
import { minuteMs } from '../../../lib/units.ts';
import { createLikeTest } from '../../../lib/wildcards.ts';
import type { LogRecord } from '../../../storage/journal/line.ts';
import { maxCount } from '../alert-counts.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, type WatchReadings } from '../watch-type.ts';

/** Bytes of the log that a search reads per step. */
const maxBytes = 16 * 1024 * 1024;

/** Milliseconds by which an alert may enter the log after its own time. Allows for slow clocks on other instances. */
const overlapMs = minuteMs;

/** Time of the last alert that a watch found, and time of its last search. */
const searches = new WeakMap<WatchSettings, { lastAt: number | undefined; until: number }>();

/** Checks that a source sends alerts on time, or that it does not send too many. */
export const alertWatch = defineWatchType({
  name: 'alert',
  scope: () => 'network',
  keys: ['source', 'metric', 'minutes'],
  required: ['source'],
  limit: 'required',
  every: 60,
  findProblem: ({ metric = 'silence', minutes, limit = 0, critical = limit }) => {
    if (metric !== 'silence' && metric !== 'count') return 'metric must be silence or count';
    if (metric === 'silence') return minutes === undefined ? undefined : 'minutes can be used only with metric count';
    const name = limit < maxCount ? 'critical' : 'limit';
    return critical < maxCount
      ? undefined
      : `${name} must be below ${maxCount}, the maximum number of alerts that are counted`;
  },
  check: async (watch, readings, signal) => {
    const now = readings.clock().getTime();
    return [
      watch.metric === 'count' ? await count(watch, readings, now) : await measureSilence(watch, readings, now, signal),
    ];
  },
});

const count = async (watch: WatchSettings, { alertCounts }: WatchReadings, now: number): Promise<Finding> => {
  const { source: thing = '', minutes = 60 } = watch;
  const figure = await alertCounts.count(thing, minutes * minuteMs, now);
  return {
    thing,
    figure,
    toText: String,
    words: `${figure} ${figure === 1 ? 'alert' : 'alerts'} from ${thing} within ${minutes} min`,
  };
};

const measureSilence = async (
  watch: WatchSettings,
  readings: WatchReadings,
  now: number,
  signal: AbortSignal,
): Promise<Finding> => {
  const { source: thing = '', limit = 0, critical = 0 } = watch;
  const maxMinutes = Math.max(limit, critical);
  const isWanted = createLikeTest(thing);
  const quietMs = await readings.quietMsOf(isWanted);
  const findLast = (since: number) => searchLast(readings, isWanted, since, signal);
  const minutes = quietMs === undefined ? await measureInLog(watch, findLast, maxMinutes, now) : quietMs / minuteMs;
  const toText = (count: number): string => `${Math.floor(count)} min`;
  const words =
    minutes === undefined
      ? `no alert from ${thing} for more than ${toText(maxMinutes)}`
      : `the last alert from ${thing} was ${toText(minutes)} ago`;
  return { thing, figure: minutes ?? maxMinutes + 1, toText, words };
};

/** Finds the last alert from the wanted sources since a time. Ignores alerts of watches. */
const searchLast = async (
  { journal }: WatchReadings,
  isWanted: (source: string) => boolean,
  since: number,
  signal: AbortSignal,
): Promise<LogRecord | undefined> => {
  const test = (record: LogRecord): boolean => formatOf(record) !== 'watch' && isWanted(toText(record['source']));
  for (let before: number | undefined; ; ) {
    const { records, next } = await journal.search({ since, before, limit: 1, maxBytes, test });
    if (next === undefined || records.length > 0) return records[0];
    if (signal.aborted) throw new Error('there are too many alerts to read in time');
    before = next;
  }
};

/** Returns the minutes since the last stored alert. Repeats from before the first start of this version are unknown. */
const measureInLog = async (
  watch: WatchSettings,
  findLast: (since: number) => Promise<LogRecord | undefined>,
  maxMinutes: number,
  now: number,
): Promise<number | undefined> => {
  const before = searches.get(watch);
  // The clock may have been set back.
  const since = before && before.until <= now ? before.until - overlapMs : now - (maxMinutes + 1) * minuteMs;
  const last = await findLast(since);
  const times = [last && readTime(last), before?.lastAt].filter((at) => at !== undefined);
  const lastAt = times.length > 0 ? Math.min(now, Math.max(...times)) : undefined;
  searches.set(watch, { lastAt, until: now });
  return lastAt === undefined ? undefined : Math.max(0, (now - lastAt) / minuteMs);
};
