import { UsageError } from '../args.ts';

const minuteMs = 60_000;
const unitMs: Record<string, number> = { m: minuteMs, h: 60 * minuteMs, d: 24 * 60 * minuteMs };

/**
 * The time that people write: `18:00` is the next time that clocks here show that, `2h`, `30m` and `1d` count from now, and
 * everything else is RFC 3339 with an offset. Throws a UsageError, also for a time that has passed.
 */
export const parseUntil = (text: string, now: Date): Date => {
  const at = parseClock(text, now) ?? parseSpan(text, now) ?? parseTime(text);
  if (!at) throw new UsageError(`--until must be a time such as 18:00, 2h or 2036-01-31T08:30:00Z, not "${text}"`);
  if (at <= now) throw new UsageError(`--until must be in the future, not ${text}`);
  return at;
};

const parseClock = (text: string, now: Date): Date | undefined => {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const at = new Date(now);
  at.setHours(Number(hours), Number(minutes), 0, 0);
  if (at <= now) at.setDate(at.getDate() + 1);
  return at;
};

const parseSpan = (text: string, now: Date): Date | undefined => {
  const [, count, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : new Date(now.getTime() + Number(count) * (unitMs[unit] ?? 0));
};

const parseTime = (text: string): Date | undefined => {
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text);
  return isTime && !Number.isNaN(Date.parse(text)) ? new Date(text) : undefined;
};
