import { formatOf, readTime, toText } from '../../offers.ts';
import { isLike } from '../../wildcards.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, type Finding, type WatchReadings } from '../type.ts';

const minuteMs = 60_000;

/** How much of the log is read for one check. */
const maxBytes = 16 * 1024 * 1024;

/** The most alerts that are counted. */
const mostCounted = 10_000;

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
  findProblem: ({ metric = 'silence', minutes }) => {
    if (metric !== 'silence' && metric !== 'count') return 'metric must be silence or count';
    return metric === 'silence' && minutes !== undefined ? 'minutes is for metric count alone' : undefined;
  },
  check: async (watch, readings) => {
    const now = readings.clock().getTime();
    return [watch.metric === 'count' ? await count(watch, readings, now) : await measureSilence(watch, readings, now)];
  },
});

/** Alerts of the source, newest first; those of watches are none. */
const search = async ({ source = '' }: WatchSettings, { journal }: WatchReadings, since: number, limit: number) => {
  if (!journal) throw new Error('alerts are not mounted');
  const { records } = await journal.search({
    ...{ since, limit, maxBytes },
    test: (record) => formatOf(record) !== 'watch' && isLike(toText(record['source']), source),
  });
  return records;
};

const count = async (watch: WatchSettings, readings: WatchReadings, now: number): Promise<Finding> => {
  const { source: thing = '', minutes = 60 } = watch;
  const found = await search(watch, readings, now - minutes * minuteMs, mostCounted);
  const figure = found.filter(({ status }) => status !== 'resolved').length;
  const words = `${figure} alerts from ${thing} within ${minutes} minutes`;
  return { thing, figure, toText: String, words };
};

const measureSilence = async (watch: WatchSettings, readings: WatchReadings, now: number): Promise<Finding> => {
  const { source: thing = '', limit = 0, critical = 0 } = watch;
  const longest = Math.max(limit, critical);
  const before = known.get(watch);
  // The clock may have been set back.
  const since = before && before.until <= now ? before.until : now - (longest + 1) * minuteMs;
  const [last] = await search(watch, readings, since, 1);
  const lastAt = (last && readTime(last)) ?? before?.lastAt;
  known.set(watch, { lastAt, until: now });
  const toText = (minutes: number): string => `${Math.floor(minutes)} minutes`;
  const minutes = lastAt === undefined ? longest + 1 : Math.max(0, (now - lastAt) / minuteMs);
  const words =
    lastAt === undefined
      ? `no alert from ${thing} for more than ${toText(longest)}`
      : `the last alert from ${thing} came ${toText(minutes)} ago`;
  return { thing, figure: minutes, toText, words };
};
