import { parseSchedule } from '../../kit/schedule.ts';
import { minuteMs } from '../../lib/units.ts';
import type { StoredSilence } from './stored.ts';

/** Maximum number of overlapping or adjacent windows that are merged. */
const maxJoined = 10;

type SilenceTimes = Pick<StoredSilence, 'startsAt' | 'endsAt' | 'recurring'>;

/** Period during which a silence is active, in Unix milliseconds. `endsAt` is exclusive. */
export interface SilenceWindow {
  startsAt: number;
  endsAt: number;
}

/** Periods during which a silence is active. */
export interface Windows {
  /** Returns the current or next window. Undefined if the silence has expired. */
  findAt(at: number): SilenceWindow | undefined;
}

/** @throws HttpError if the schedule is unusable */
export const createWindows = ({ startsAt, endsAt, recurring }: SilenceTimes): Windows => {
  const end = endsAt ?? Number.POSITIVE_INFINITY;
  if (!recurring) return { findAt: (at) => (at < end && startsAt < end ? { startsAt, endsAt: end } : undefined) };
  const cron = parseSchedule(recurring.schedule, recurring.timeZone);
  const lengthMs = recurring.minutes * minuteMs;
  const nextAfter = (at: number): number => cron.nextRun(new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY;
  const find = (at: number): SilenceWindow | undefined => {
    const first = nextAfter(Math.max(at, startsAt) - lengthMs);
    let last = first + lengthMs;
    for (let joined = 0; joined < maxJoined && last < end; joined += 1) {
      const next = nextAfter(last - lengthMs);
      if (next > last) break;
      last = next + lengthMs;
    }
    const window = { startsAt: Math.max(first, startsAt), endsAt: Math.min(last, end) };
    return window.startsAt < window.endsAt ? window : undefined;
  };
  // Last result, and the period for which it is valid.
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
