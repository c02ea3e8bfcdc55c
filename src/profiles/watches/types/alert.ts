import type { LogRecord } from '../../../storage/journal/line.ts';
import { isLike } from '../../../wildcards.ts';
import { formatOf, readTime, toText } from '../../alert-record.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, type WatchReadings } from '../type.ts';

const minuteMs = 60_000;

/** How much of the log is read at a time. */
const maxBytes = 16 * 1024 * 1024;

/** The most alerts that are counted. */
const mostCounted = 10_000;

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
    const find: Find = (since, limit) => search(watch, readings, { since, limit, signal });
    return [
      watch.metric === 'count' ? await count(watch, find, now) : await measureSilence(watch, readings, find, now),
    ];
  },
});

interface Wanted {
  since: number;
  limit: number;
  signal: AbortSignal;
}

/** Alerts of the source, newest first; those of watches are none. */
const search = async ({ source = '' }: WatchSettings, { journal }: WatchReadings, { since, limit, signal }: Wanted) => {
  if (!journal) throw new Error('alerts are not mounted');
  const test = (record: LogRecord): boolean => formatOf(record) !== 'watch' && isLike(toText(record['source']), source);
  const found: LogRecord[] = [];
  for (let before: number | undefined; ; ) {
    const { records, next } = await journal.search({ since, before, limit: limit - found.length, maxBytes, test });
    found.push(...records);
    if (next === undefined || found.length >= limit) return found;
    if (signal.aborted) throw new Error('there are too many alerts to read them in time');
    before = next;
  }
};

type Find = (since: number, limit: number) => Promise<LogRecord[]>;

const count = async (watch: WatchSettings, find: Find, now: number): Promise<Finding> => {
  const { source: thing = '', minutes = 60 } = watch;
  const found = await find(now - minutes * minuteMs, mostCounted);
  const figure = found.filter(({ status }) => status !== 'resolved').length;
  const words = `${figure} alerts from ${thing} within ${minutes} minutes`;
  return { thing, figure, toText: String, words };
};

const measureSilence = async (
  watch: WatchSettings,
  readings: WatchReadings,
  find: Find,
  now: number,
): Promise<Finding> => {
  const { source: thing = '', limit = 0, critical = 0 } = watch;
  const longest = Math.max(limit, critical);
  const heardMs = await readings.silenceOf?.((source) => isLike(source, thing));
  const minutes = heardMs === undefined ? await measureInLog(watch, find, longest, now) : heardMs / minuteMs;
  const toText = (count: number): string => `${Math.floor(count)} minutes`;
  const words =
    minutes === undefined
      ? `no alert from ${thing} for more than ${toText(longest)}`
      : `the last alert from ${thing} came ${toText(minutes)} ago`;
  return { thing, figure: minutes ?? longest + 1, toText, words };
};

/** Minutes since the last stored alert, which is all that is known of what came before the first start of this version. */
const measureInLog = async (
  watch: WatchSettings,
  find: Find,
  longest: number,
  now: number,
): Promise<number | undefined> => {
  const before = known.get(watch);
  // The clock may have been set back.
  const since = before && before.until <= now ? before.until - overlapMs : now - (longest + 1) * minuteMs;
  const [last] = await find(since, 1);
  const times = [last && readTime(last), before?.lastAt].filter((at) => at !== undefined);
  const lastAt = times.length > 0 ? Math.min(now, Math.max(...times)) : undefined;
  known.set(watch, { lastAt, until: now });
  return lastAt === undefined ? undefined : Math.max(0, (now - lastAt) / minuteMs);
};
