import { Cron, type CronOptions } from 'croner';

interface CronField {
  name: string;
  /** Values that the field has. */
  count: number;
}

const cronFields: readonly CronField[] = [
  { name: 'minute', count: 60 },
  { name: 'hour', count: 24 },
  { name: 'day', count: 31 },
  { name: 'month', count: 12 },
  { name: 'day of the week', count: 7 },
];

/** Digits, names and signs of a field, with the `L`, `W` and `#` of other programs. */
const fieldForm = /^[\w*,/#+?-]+$/;

/** The names of crontab(5). Its `@reboot` names no time. */
const nicknames: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The five fields of a cron expression. Throws an Error whose message says what is wrong. */
export const splitCron = (expression: string): string[] => {
  const trimmed = expression.trim();
  const fields = (nicknames[trimmed.toLowerCase()] ?? trimmed).split(/[ \t]+/);
  if (fields.length === cronFields.length) return fields;
  const names = cronFields.map(({ name }) => name).join(', ');
  throw new Error(`${JSON.stringify(expression)} must have five fields: ${names}`);
};

/** The times of a cron expression. */
export type CronTimes = Pick<Cron, 'nextRun' | 'nextRuns' | 'previousRuns'>;

type Zone = Pick<CronOptions, 'timezone' | 'utcOffset'>;

/**
 * The times of a cron expression as cron(8) of Debian has them: where both day fields are restricted, either is enough, but
 * where one begins with `*`, as in `*\/2`, both must match. Throws an Error whose message says what is wrong.
 */
export const createCron = (expression: string, zone: Zone): CronTimes => {
  const fields = splitCron(expression);
  const odd = fields.find((field) => !fieldForm.test(field));
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd)} is no field of a cron expression`);
  const pattern = fields.map((field, index) => clampSteps(field, cronFields[index] as CronField)).join(' ');
  const find = (): Cron => findParsed(pattern, zone);
  find();
  return {
    nextRun: (from) => find().nextRun(from),
    nextRuns: (count, from) => find().nextRuns(count, from),
    previousRuns: (count, from) => find().previousRuns(count, from),
  };
};

/** Parsed expressions that are kept, of the last use: each takes 80 kB, and thousands may be stored. */
const mostParsed = 100;

const parsed = new Map<string, Cron>();

const findParsed = (pattern: string, zone: Zone): Cron => {
  const key = `${zone.timezone ?? zone.utcOffset} ${pattern}`;
  const cron = parsed.get(key) ?? parse(pattern, zone);
  parsed.delete(key);
  parsed.set(key, cron);
  for (const oldest of parsed.keys()) {
    if (parsed.size <= mostParsed) break;
    parsed.delete(oldest);
  }
  return cron;
};

const parse = (pattern: string, zone: Zone): Cron => {
  const [, , day = '', , weekday = ''] = pattern.split(' ');
  try {
    const domAndDow = day.startsWith('*') || weekday.startsWith('*');
    return new Cron(pattern, { ...zone, mode: '5-part', domAndDow, paused: true });
  } catch (error) {
    throw new Error((error as Error).message.replace(/^\w+: /, ''));
  }
};

/** A step beyond the end of a range, as in `*\/100`, leaves its first value; croner refuses such steps. */
const clampSteps = (field: string, { count }: CronField): string =>
  field.replaceAll(/\/(\d+)/g, (_, step: string) => `/${Math.min(Number(step), count)}`);
