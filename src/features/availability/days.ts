import { ZoneClock } from '../../lib/time-zone.ts';
import { dayMs } from '../../lib/units.ts';

/** Maximum number of time zones whose formatters are cached. */
const maxClocks = 50;

const clocks = new Map<string, ZoneClock>();

const clockOf = (timeZone: string): ZoneClock => {
  const clock = clocks.get(timeZone) ?? new ZoneClock(timeZone);
  if (clocks.size >= maxClocks) clocks.clear();
  clocks.set(timeZone, clock);
  return clock;
};

/** Part of a calendar day in a time zone that lies within a range. Times are Unix milliseconds. */
interface LocalDay {
  /** Day, such as `2026-01-31`. */
  day: string;
  from: number;
  until: number;
}

/** Lists the calendar days of a range in a valid time zone. Days on which clocks change have 23 or 25 hours. */
export const listLocalDays = (from: number, until: number, timeZone: string): LocalDay[] => {
  const clock = clockOf(timeZone);
  const days: LocalDay[] = [];
  for (let midnight = toMidnight(clock.toLocal(from)); ; midnight += dayMs) {
    const begin = clock.toFirstTime(midnight);
    if (begin >= until) return days;
    const end = clock.toFirstTime(midnight + dayMs);
    const day = { day: toDayText(midnight), from: Math.max(begin, from), until: Math.min(end, until) };
    // A time zone may have skipped a day.
    if (day.from < day.until) days.push(day);
  }
};

/** Returns the beginning of the calendar day `count` days before the day of the given time. */
export const findDayBefore = (at: number, count: number, timeZone: string): number => {
  const clock = clockOf(timeZone);
  return clock.toFirstTime(toMidnight(clock.toLocal(at)) - count * dayMs);
};

const toMidnight = (local: number): number => Math.floor(local / dayMs) * dayMs;

const toDayText = (midnight: number): string => new Date(midnight).toISOString().slice(0, 10);
