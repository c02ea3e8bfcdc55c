import { findTimeZone, ZoneClock } from '../../../lib/time-zone.ts';
import { dayMs, hourMs, minuteMs } from '../../../lib/units.ts';
import { ImportError } from './documents.ts';
import type { DraftRotation } from './draft.ts';

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const weekMinutes = 7 * 24 * 60;
const dayMinutes = 24 * 60;

/** Earliest start of a layer. An earlier start is moved forward by whole cycles. */
const earliest = Date.UTC(2020, 0, 6);

/** Exclusive upper limit of times. The server takes only earlier times. */
const latest = Date.UTC(2060, 0, 1);

/** Error for a layer during which nobody would ever be on call. The message describes the layer. */
export class UselessLayer extends ImportError {}

/** Maximum number of layers of a rotation. Set by the server. */
const mostLayers = 16;

/** Returns the reason why a rotation with these layers cannot be imported. */
export const findLayerProblem = ({ length }: readonly unknown[]): string | undefined => {
  if (length === 0) return 'nobody would be on call, because it has no recurring shifts that can be imported';
  return length > mostLayers ? `there are more than ${mostLayers} layers` : undefined;
};

/** Part of a week, in minutes since Monday. */
export interface WeekSpan {
  start: number;
  minutes: number;
}

/** Returns the time zone with the name used in an export. Throws an ImportError for an unknown zone. */
export const openZone = (name: string): { timeZone: string; clock: ZoneClock } => {
  const timeZone = findTimeZone(name);
  if (timeZone === undefined) throw new ImportError(`${JSON.stringify(name.slice(0, 60))} is not a time zone`);
  return { timeZone, clock: new ZoneClock(timeZone) };
};

/** Converts a clock time such as `08:00` or `08:00:00` to minutes. Throws an ImportError for any other text. */
export const toMinutes = (text: string): number => {
  const [, hour = '', minute = ''] = /^(\d\d?):(\d\d)(?::\d\d)?Z?$/.exec(text) ?? [];
  if (hour === '' || Number(hour) > 24 || Number(minute) > 59) {
    throw new ImportError(`${JSON.stringify(text.slice(0, 60))} is not a time of day such as 08:00`);
  }
  return Number(hour) * 60 + Number(minute);
};

/** Returns a span for each of the days, where 0 is Monday. Equal times mean a whole day. */
export const onDays = (listed: readonly number[], start: number, end: number): WeekSpan[] =>
  listed.map((day) => ({
    start: day * dayMinutes + start,
    minutes: end > start ? end - start : end - start + dayMinutes,
  }));

/** Formats spans as hours, such as `Mon, Tue 08:00-18:00`. Undefined for the whole week. */
const toHours = (spans: readonly WeekSpan[]): string | undefined => {
  const isCovered = new Uint8Array(weekMinutes);
  for (const { start, minutes } of spans) {
    for (let at = 0; at < Math.min(minutes, weekMinutes); at += 1) isCovered[(start + at) % weekMinutes] = 1;
  }
  if (isCovered.every((each) => each === 1)) return undefined;
  const byTimes = new Map<string, string[]>();
  for (const [day, name] of days.entries()) {
    for (const times of listTimes(isCovered.subarray(day * dayMinutes, (day + 1) * dayMinutes))) {
      byTimes.set(times, [...(byTimes.get(times) ?? []), name]);
    }
  }
  return Array.from(byTimes, ([times, names]) => `${names.join(', ')} ${times}`).join(', ');
};

/** Lists the times of a day that are covered, such as `08:00-18:00`. */
const listTimes = (day: Uint8Array): string[] => {
  const times: string[] = [];
  let start = day.indexOf(1);
  while (start >= 0) {
    const end = day.indexOf(0, start);
    times.push(`${toClock(start)}-${toClock(end < 0 ? dayMinutes : end)}`);
    start = end < 0 ? -1 : day.indexOf(1, end);
  }
  return times;
};

const toClock = (minutes: number): string =>
  `${`${Math.floor(minutes / 60)}`.padStart(2, '0')}:${`${minutes % 60}`.padStart(2, '0')}`;

interface LayerDraft {
  /** People in the order of their turns. Each turn lasts `periodMs`. */
  people: readonly string[];
  periodMs: number;
  /** Start of the first turn, in local time. */
  local: number;
  clock: ZoneClock;
  spans?: readonly WeekSpan[];
  /** Unix milliseconds. */
  until?: number | undefined;
}

/**
 * Converts turns to a layer. Throws an ImportError for turns that signalbox does not support, and a UselessLayer for a
 * layer that has ended. Omits an end that the server rejects, because other programs write `9999-12-31` for a layer
 * without an end.
 */
export const toLayer = ({
  people,
  periodMs,
  local: given,
  clock,
  spans,
  until,
}: LayerDraft): DraftRotation['layers'][number] => {
  if (people.length === 0) throw new ImportError('the list of people is empty');
  if (people.length > 64) throw new ImportError('the list of people has more than 64 entries');
  const cycleMs = periodMs * people.length;
  const every = toEvery(periodMs);
  const local = given < earliest ? given + Math.ceil((earliest - given) / cycleMs) * cycleMs : given;
  const from = clock.toFirstTime(local);
  if (from >= latest) throw new UselessLayer(`a layer that starts at ${new Date(from).toISOString()}, after 2059`);
  if (until !== undefined && until <= Math.max(from, Date.now())) {
    throw new UselessLayer(`a layer that ended at ${new Date(until).toISOString()}`);
  }
  const start = new Date(local);
  const time = toClock(start.getUTCHours() * 60 + start.getUTCMinutes());
  const hours = spans && toHours(spans);
  if (hours !== undefined && hours.length > 500) throw new ImportError('the hours are too complex');
  return {
    people: [...people],
    handover: { every, at: every.includes('week') ? `${dayOf(start)} ${time}` : time },
    from: new Date(from).toISOString(),
    ...(hours !== undefined && { hours }),
    ...(until !== undefined && until < latest && { until: new Date(until).toISOString() }),
  };
};

const dayOf = (local: Date): string => days[(local.getUTCDay() + 6) % 7] ?? '';

const toEvery = (ms: number): string => {
  const [count, unit] =
    ms % (7 * dayMs) === 0
      ? [ms / (7 * dayMs), 'week']
      : ms % dayMs === 0
        ? [ms / dayMs, 'day']
        : [ms / hourMs, 'hour'];
  const isUsable = unit === 'hour' ? 24 % count === 0 : ms <= 366 * dayMs;
  if (!isUsable || count < 1) throw new ImportError(`shifts of ${ms / minuteMs} minutes are not supported`);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};
