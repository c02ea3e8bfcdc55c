import type { Silence } from 'signalbox/client';
import { toCount, toDuration, toTimeOfDay } from '../format.ts';
import { text } from '../strings/index.ts';
import { zone } from '../zone.ts';

const words = text.silences;

/** Time of day on certain weekdays. 0 is Sunday. */
interface WeeklyTime {
  days: readonly number[];
  /** Time of day, such as `02:30`. */
  time: string;
}

const allDays = [0, 1, 2, 3, 4, 5, 6];
/** Days in display order, from Monday. */
export const weekdays = [1, 2, 3, 4, 5, 6, 0];
const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const toTwoDigits = (number: string): string => number.padStart(2, '0');

const toCron = ({ days, time }: WeeklyTime): string => {
  const [hour = '', minute = ''] = time.split(':');
  const on = days.length === allDays.length ? '*' : days.toSorted((one, other) => one - other).join(',');
  return `${Number(minute)} ${Number(hour)} * * ${on}`;
};

/**
 * Returns the weekly times of a cron expression. Undefined unless the expression is a single time on certain weekdays.
 */
const toWeekly = (expression: string): WeeklyTime | undefined => {
  const [, minute, hour, on] = /^\s*(\d{1,2})\s+(\d{1,2})\s+\*\s+\*\s+(\S+)\s*$/.exec(expression) ?? [];
  const days = on === undefined ? undefined : readDays(on);
  if (minute === undefined || hour === undefined || !days) return undefined;
  return { days, time: `${toTwoDigits(hour)}:${toTwoDigits(minute)}` };
};

/** Returns the days in `*`, `6`, `1-5` or `mon,wed`. Undefined for other expressions. */
const readDays = (on: string): number[] | undefined => {
  if (on === '*') return allDays;
  const days = new Set<number>();
  for (const part of on.toLowerCase().split(',')) {
    const [first = -1, last = first, ...rest] = part.split('-').map(readDay);
    if (first < 0 || last < first || rest.length > 0) return undefined;
    for (let day = first; day <= last; day += 1) days.add(day % 7);
  }
  return allDays.filter((day) => days.has(day));
};

const readDay = (word: string): number => (/^[0-7]$/.test(word) ? Number(word) : names.indexOf(word));

/** Form state of a recurring schedule: weekdays, or a cron expression. */
export interface ScheduleDraft extends WeeklyTime {
  expression: string;
  timeZone: string;
}

export const toScheduleDraft = (expression: string, timeZone: string | null) => {
  const weekly = toWeekly(expression);
  const typed = { expression, timeZone: timeZone ?? '' };
  return weekly ? { ...typed, ...weekly, mode: 'weekly' as const } : { ...typed, mode: 'cron' as const };
};

/** Returns the request body for a schedule. Throws an Error with a message for the user. */
export const readSchedule = ({ mode, days, time, expression, timeZone }: ScheduleDraft & { mode: string }) => {
  if (mode === 'weekly' && (days.length === 0 || time === '')) throw new Error(words.noDays);
  const schedule = mode === 'weekly' ? toCron({ days, time }) : expression.trim();
  return { schedule, ...(timeZone.trim() !== '' && { timeZone: timeZone.trim() }) };
};

/** Describes days in words: `Monday to Friday`, `Tuesday and Thursday`. */
const toDays = (days: readonly number[]): string => {
  if (days.length === allDays.length) return words.everyDay;
  const sorted = weekdays.filter((day) => days.includes(day));
  const [first = 0] = sorted;
  const last = sorted.at(-1) ?? first;
  const isRange = sorted.length > 2 && weekdays.indexOf(last) - weekdays.indexOf(first) === sorted.length - 1;
  if (isRange) return words.range(words.days[first] ?? '', words.days[last] ?? '');
  const named = sorted.map((day) => words.days[day] ?? '');
  if (named.length < 2) return named.join('');
  return words.and(named.slice(0, -1).join(', '), named.at(-1) ?? '');
};

/** Describes a recurring silence in words: `Saturday at 02:00 for 1 h 30 min`. */
export const describeSchedule = ({ schedule, timeZone, minutes }: Silence): string =>
  describeTimes(schedule ?? '', timeZone, words.lasting(toDuration((minutes ?? 0) * 60)));

/**
 * Describes the times of a cron expression in words: `Saturday at 02:00 (Asia/Tokyo)`. The displayed zone is omitted.
 */
export const describeTimes = (expression: string, timeZone: string | null, lasting = ''): string => {
  const weekly = toWeekly(expression);
  const [, minute, hour, day] = /^(\d{1,2}) (\d{1,2}) (\d{1,2}) \* \*$/.exec(expression) ?? [];
  const time = hour && minute ? `${toTwoDigits(hour)}:${toTwoDigits(minute)}` : undefined;
  return [
    weekly && `${toDays(weekly.days)} ${words.at(toTimeOfDay(weekly.time))}`,
    day && time && `${words.monthly(toCount(Number(day)))} ${words.at(toTimeOfDay(time))}`,
    !weekly && !day && words.cron(expression),
    lasting,
    timeZone && timeZone !== zone.value && words.zone(timeZone),
  ]
    .filter(Boolean)
    .join(' ');
};
