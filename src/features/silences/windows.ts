import { parseSchedule } from '../../kit/schedule.ts';
import { minuteMs } from '../../lib/units.ts';
import type { StoredSilence } from './stored.ts';

/** How many windows that overlap or touch are followed to the end of the last. */
const mostJoined = 10;

/** When a silence holds: once, or again and again. */
type SilenceTimes = Pick<StoredSilence, 'startsAt' | 'endsAt' | 'recurring'>;

/** A time for which a silence holds; the end is the first moment after it. */
export interface SilenceWindow {
  startsAt: number;
  endsAt: number;
}

/** When a silence holds. */
export interface Windows {
  /** The window at that time, or the next one; undefined if there are no more. */
  findAt(at: number): SilenceWindow | undefined;
}

/** @throws HttpError for a schedule that cannot be used */
export const createWindows = ({ startsAt, endsAt, recurring }: SilenceTimes): Windows => {
  const end = endsAt ?? Number.POSITIVE_INFINITY;
  if (!recurring) return { findAt: (at) => (at < end && startsAt < end ? { startsAt, endsAt: end } : undefined) };
  const cron = parseSchedule(recurring.schedule, recurring.timeZone);
  const lengthMs = recurring.minutes * minuteMs;
  const nextAfter = (at: number): number => cron.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  const find = (at: number): SilenceWindow | undefined => {
    const first = nextAfter(Math.max(at, startsAt) - lengthMs);
    let last = first + lengthMs;
    for (let joined = 0; joined < mostJoined && last < end; joined += 1) {
      const next = nextAfter(last - lengthMs);
      if (next > last) break;
      last = next + lengthMs;
    }
    const window = { startsAt: Math.max(first, startsAt), endsAt: Math.min(last, end) };
    return window.startsAt < window.endsAt ? window : undefined;
  };
  /** The last answer, and the times for which it is the same. */
  let known: { from: number; until: number; window: SilenceWindow | undefined } | undefined;
  return {
    findAt: (at) => {
      if (!known || at < known.from || at >= known.until) {
        const window = at < end ? find(at) : undefined;
        known = { from: at, until: window?.endsAt ?? Number.POSITIVE_INFINITY, window };
      }
      return known.window;
    },
  };
};
