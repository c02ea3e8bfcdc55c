import { HttpError } from '../../http/errors.ts';
import { parseSchedule } from '../../kit/schedule.ts';
import { readOwnTimeZone } from '../../lib/time-zone.ts';
import type { HeartbeatDefinition } from './definition.ts';

/** Default grace period as a share of the interval. */
const defaultGraceShare = 0.2;

/**
 * Maximum milliseconds by which a ping may be early and still count for its scheduled time. The share of the interval
 * below is a second limit.
 */
const maxEarlyMs = 60_000;
const maxEarlyShare = 0.1;

/** Times at which pings are expected, in Unix milliseconds. */
export interface ExpectedTimes {
  /** Returns the time at which the ping following a given ping is due. */
  dueAfter(pingAt: number): number;
  /** Returns the milliseconds by which the ping for a due time may be late. */
  graceAt(due: number): number;
}

/** Computes the expected times of a definition. @throws HttpError if the definition is invalid */
export const compileTimes = ({ period, schedule, timeZone, grace }: HeartbeatDefinition): ExpectedTimes => {
  if ((period === undefined) === (schedule === undefined)) {
    throw new HttpError('invalid', 'set either period or schedule');
  }
  if (period !== undefined) {
    if (timeZone !== undefined) throw new HttpError('invalid', 'timeZone can be used only with schedule');
    const graceMs = 1000 * (grace ?? Math.max(1, Math.round(period * defaultGraceShare)));
    return { dueAfter: (pingAt) => pingAt + period * 1000, graceAt: () => graceMs };
  }
  const cron = parseSchedule(schedule ?? '', timeZone ?? readOwnTimeZone());
  const nextAfter = (at: number): number => cron.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  const dueAfter = (pingAt: number): number => {
    const next = nextAfter(pingAt);
    if (next - pingAt > maxEarlyMs) return next;
    // With a fast clock, a ping can arrive slightly before the scheduled time that it counts for.
    const before = cron.previousRuns(1, new Date(next))[0]?.getTime() ?? 0;
    const after = nextAfter(next);
    const earlyMs = Math.min(maxEarlyMs, maxEarlyShare * Math.min(next - before, after - next));
    return next - pingAt <= earlyMs ? after : next;
  };
  return {
    dueAfter: cacheLast(dueAfter),
    graceAt: cacheLast((due) => {
      if (grace !== undefined) return grace * 1000;
      const next = dueAfter(due);
      return next === Number.POSITIVE_INFINITY
        ? 3_600_000
        : Math.max(1000, Math.round((next - due) * defaultGraceShare));
    }),
  };
};

/** Caches the last result. It is valid until the next ping. Evaluating a cron expression takes a millisecond. */
const cacheLast = (find: (at: number) => number): ((at: number) => number) => {
  let last = { at: Number.NaN, found: 0 };
  return (at) => {
    if (at !== last.at) last = { at, found: find(at) };
    return last.found;
  };
};
