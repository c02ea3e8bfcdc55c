import { isCalendarDay } from '../../lib/time-zone.ts';
import { minuteMs } from '../../lib/units.ts';
import { UsageError } from '../args.ts';

const unitMs: Record<string, number> = { m: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs };

const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/**
 * Parses the end time that a person entered for a period that starts at `from`. A clock time means its next occurrence
 * after `from`. Throws a UsageError for an invalid or past time.
 */
export const parseUntil = (text: string, now: Date, from?: Date): Date => {
  const at = parseClock(text, from ?? now) ?? parseWhen('--until', text, now);
  if (at <= now) throw new UsageError(`--until must be in the future, not ${text}`);
  if (from !== undefined && at <= from) throw new UsageError(`--until must be after --from, not ${text}`);
  return at;
};

/**
 * Parses a time entered by a person. `18:00` and `Thu 18:00` mean the next such local time. `2h`, `30m` and `1d` count
 * from now. Any other text must be RFC 3339 with an offset. Throws a UsageError for an invalid time.
 */
export const parseWhen = (flag: string, text: string, now: Date): Date => {
  const at = parseClock(text, now) ?? parseSpan(text, now) ?? parseInstant(text);
  if (at) return at;
  throw new UsageError(`${flag} must be a time such as 18:00, "Thu 18:00", 2h or 2036-01-31T08:30:00Z, not "${text}"`);
};

/**
 * Parses a start time in the past. Accepts the forms of `parseWhen`, except that clock times mean their most recent
 * occurrence and durations count back from now. Throws a UsageError for an invalid time.
 */
export const parseSince = (text: string, now: Date): Date => {
  const clock = parseClock(text, now);
  if (clock) {
    clock.setDate(clock.getDate() - (/^[a-z]/i.test(text) ? 7 : 1));
    return clock;
  }
  const span = parseSpan(text, now);
  const at = span ? new Date(2 * now.getTime() - span.getTime()) : parseInstant(text);
  if (at && at <= now) return at;
  throw new UsageError(
    `--since must be a time in the past such as 2h, 30m, 1d, 18:00 or 2026-01-31T08:30:00Z, not ${JSON.stringify(text)}`,
  );
};

const parseClock = (text: string, now: Date): Date | undefined => {
  const [, name = '', hours, minutes] = /^(?:([a-z]{3}) )?([01]?\d|2[0-3]):([0-5]\d)$/i.exec(text) ?? [];
  const day = days.indexOf(name.toLowerCase());
  if (hours === undefined || (name !== '' && day < 0)) return undefined;
  const at = new Date(now);
  if (day >= 0) at.setDate(at.getDate() + ((day - at.getDay() + 7) % 7));
  at.setHours(Number(hours), Number(minutes), 0, 0);
  if (at <= now) at.setDate(at.getDate() + (day < 0 ? 1 : 7));
  return at;
};

const parseSpan = (text: string, now: Date): Date | undefined => {
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : new Date(now.getTime() + Number(count) * (unitMs[unit] ?? 0));
};

const parseInstant = (text: string): Date | undefined => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  return isTime && isCalendarDay(text) && !Number.isNaN(Date.parse(text)) ? new Date(text) : undefined;
};
