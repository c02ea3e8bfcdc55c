import { Cron, type CronOptions, CronPattern } from 'croner';
import { RecentValues } from './recent-values.ts';

interface CronField {
  name: string;
  /** Number of values that the field can have. */
  count: number;
}

const cronFields: readonly CronField[] = [
  { name: 'minute', count: 60 },
  { name: 'hour', count: 24 },
  { name: 'day', count: 31 },
  { name: 'month', count: 12 },
  { name: 'day of the week', count: 7 },
];

/** Characters allowed in a field. Includes `L`, `W` and `#`, because other programs support them. */
const fieldForm = /^[\w*,/#+?-]+$/;

/** Nicknames from crontab(5). `@reboot` is missing, because it is not a time. */
const nicknames: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Splits a cron expression into its five fields. Throws an Error that explains the problem. */
export const splitCron = (expression: string): string[] => {
  const trimmed = expression.trim();
  const fields = (nicknames[trimmed.toLowerCase()] ?? trimmed).split(/[ \t]+/);
  if (fields.length === cronFields.length) return fields;
  const names = cronFields.map(({ name }) => name).join(', ');
  throw new Error(`${JSON.stringify(expression)} must have five fields: ${names}`);
};

/** Times that match a cron expression. The longest gap is 40 years, for 29 February on a certain weekday. */
export interface CronTimes {
  /** Returns the first time after `from`. Default: after now. Null if the expression matches no time. */
  nextRun(from?: Date): Date | null;
  nextRuns(count: number, from?: Date): Date[];
  /** Returns the last times before `from`, latest first. */
  previousRuns(count: number, from?: Date): Date[];
}

type Zone = Pick<CronOptions, 'timezone' | 'utcOffset'>;

/** Times of an expression that matches no date. */
const noTimes: CronTimes = { nextRun: () => null, nextRuns: () => [], previousRuns: () => [] };

/**
 * Computes the times of a cron expression as Debian's cron(8) does. If a day field begins with `*`, as in `*\/2`, both
 * day fields must match. Otherwise, one of them suffices. Throws an Error that explains the problem.
 */
export const createCron = (expression: string, zone: Zone): CronTimes => {
  const fields = splitCron(expression);
  const odd = fields.find((field) => !fieldForm.test(field));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} is not a field of a cron expression`);
  const pattern = fields.map((field, index) => clampSteps(field, cronFields[index] as CronField)).join(' ');
  const years = readLongestWait(parse(pattern), needsBoth(pattern));
  if (years === undefined) return noTimes;
  const findAt = (at: Date): Cron => findParsed(pattern, zone, at, years);
  const nextRun = (from = new Date()): Date | null => findAt(from).nextRun(from);
  return {
    nextRun,
    nextRuns: (count, from) => follow(count, nextRun, from),
    previousRuns: (count, from) => follow(count, (at = new Date()) => findAt(at).previousRuns(1, at)[0] ?? null, from),
  };
};

/** Returns consecutive times, each computed from the previous time. */
const follow = (count: number, find: (from?: Date) => Date | null, from?: Date): Date[] => {
  const found: Date[] = [];
  while (found.length < count) {
    const next = find(found.at(-1) ?? from);
    if (!next) break;
    found.push(next);
  }
  return found;
};

const parse = (pattern: string): CronPattern => {
  try {
    return new CronPattern(pattern, undefined, { mode: '5-part' });
  } catch (error) {
    throw new Error((error as Error).message.replace(/^\w+: /, ''));
  }
};

const needsBoth = (pattern: string): boolean => {
  const [, , day = '', , weekday = ''] = pattern.split(' ');
  return day.startsWith('*') || weekday.startsWith('*');
};

/** Lengths of the months in a common year. */
const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const daysOfWeek = [0, 1, 2, 3, 4, 5, 6];

/**
 * Bit that croner sets for the last occurrence of a weekday in the month. The lower bits stand for the first to the
 * fifth.
 */
const lastBit = 32;

/**
 * Returns the maximum number of years between matching days. Undefined if no day matches. A date falls on a certain
 * weekday within 12 years, or within 40 years for 29 February. Without a limit, croner would search 400 years.
 */
const readLongestWait = (pattern: CronPattern, both: boolean): number | undefined => {
  if (!both && !pattern.useAndLogic && !pattern.starDOM && !pattern.starDOW) return 40;
  const mayHave = (length: number, month: number): boolean =>
    Boolean(pattern.month[month]) && daysOfWeek.some(hasDay(pattern, length));
  if (lengths.some(mayHave)) return 12;
  return mayHave(29, 1) ? 40 : undefined;
};

/**
 * Creates a test for weekdays. The test is true if a month of the given length can have a matching day on that weekday.
 */
const hasDay =
  (pattern: CronPattern, length: number) =>
  (weekday: number): boolean => {
    const bits = pattern.dayOfWeek[weekday] ?? 0;
    const isNth = (day: number): boolean =>
      (bits & (1 << Math.floor((day - 1) / 7))) !== 0 || ((bits & lastBit) !== 0 && day > length - 7);
    // True if `day` can be the working day nearest to the wanted day, as in `15W`.
    const isNear = (wanted: number, day: number): boolean => {
      const of = (weekday + wanted - day + 35) % 7;
      if (of === 0) return day === (wanted === length ? wanted - 2 : wanted + 1);
      if (of === 6) return day === (wanted === 1 ? wanted + 2 : wanted - 1);
      return day === wanted;
    };
    const isNamed = (day: number): boolean =>
      Boolean(pattern.day[day - 1]) ||
      (pattern.lastDayOfMonth && day === length) ||
      (pattern.lastWeekday && isNear(length, day)) ||
      pattern.nearestWeekdays.some((named, index) => named && index < length && isNear(index + 1, day));
    return bits !== 0 && Array.from({ length }, (_, index) => index + 1).some((day) => isNth(day) && isNamed(day));
  };

/** Maximum number of parsed expressions in memory. Each takes 80 kB, and there can be thousands of schedules. */
const maxParsed = 100;

const parsed = new RecentValues<Cron>(maxParsed);

/** Returns the parsed expression for the years around a time. */
const findParsed = (pattern: string, zone: Zone, at: Date, wait: number): Cron => {
  const year = at.getUTCFullYear();
  const years = [year - 1 - wait, year + 1 + wait].map((each) => Math.min(Math.max(each, 1), 9999));
  const key = `${zone.timezone ?? zone.utcOffset} ${pattern} ${years.join('-')}`;
  return parsed.get(key, () => createParsed(`0 ${pattern} ${years.join('-')}`, zone, needsBoth(pattern)));
};

const createParsed = (pattern: string, zone: Zone, domAndDow: boolean): Cron =>
  new Cron(pattern, { ...zone, mode: '7-part', domAndDow, paused: true });

/**
 * Reduces steps that exceed the range, as in `*\/100`. croner rejects such steps, but cron uses the first value of the
 * range.
 */
const clampSteps = (field: string, { count }: CronField): string =>
  field.replaceAll(/\/(\d+)/g, (_, step: string) => `/${Math.min(Number(step), count)}`);
