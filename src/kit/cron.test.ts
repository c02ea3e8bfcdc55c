import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../test/support/folder.ts';
import { fc } from '../../test/support/random.ts';
import { dayMs } from '../lib/units.ts';
import { createCron } from './cron.ts';

const year = 2026;

/** Returns the days in 2026 whose midnight matches an expression. */
const listDays = (expression: string): string[] => {
  const cron = createCron(expression, { utcOffset: 0 });
  const days: string[] = [];
  let run = cron.nextRun(new Date(Date.UTC(year, 0, 1) - 1));
  while (run && run.getUTCFullYear() === year) {
    days.push(run.toISOString().slice(0, 10));
    run = cron.nextRun(run);
  }
  return days;
};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Returns the values of a field between `first` and `last`, according to crontab(5). */
const listValues = (
  field: string,
  first: number,
  last: number,
  names: readonly string[],
  offset: number,
): Set<number> => {
  const toNumber = (word: string): number => {
    const index = names.indexOf(word.toLowerCase());
    return index < 0 ? Number(word) : index + offset;
  };
  const values = new Set<number>();
  for (const element of field.split(',')) {
    const [range = '', step = '1'] = element.split('/');
    const [from, to] = range === '*' ? [first, last] : range.split('-').map(toNumber);
    for (let value = from ?? 0; value <= (to ?? from ?? 0); value += Number(step)) values.add(value);
  }
  return values;
};

/** Returns the matching days of the year, according to crontab(5). */
const listDaysByManual = (day: string, month: string, weekday: string): string[] => {
  const days = listValues(day, 1, 31, [], 0);
  const ofYear = listValues(month, 1, 12, months, 1);
  const ofWeek = listValues(weekday, 0, 7, weekdays, 0);
  const isEither = !day.startsWith('*') && !weekday.startsWith('*');
  const found: string[] = [];
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += dayMs) {
    const date = new Date(at);
    const isDay = days.has(date.getUTCDate());
    const isWeekday = ofWeek.has(date.getUTCDay()) || (date.getUTCDay() === 0 && ofWeek.has(7));
    const isBoth = isEither ? isDay || isWeekday : isDay && isWeekday;
    if (isBoth && ofYear.has(date.getUTCMonth() + 1)) found.push(date.toISOString().slice(0, 10));
  }
  return found;
};

const element = (first: number, last: number, names: readonly string[], offset: number) => {
  const value = fc.integer({ min: first, max: last });
  const toWord = (number: number): string => names[number - offset] ?? String(number);
  const step = fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined });
  const toStep = (each: number | undefined): string => (each === undefined ? '' : `/${each}`);
  return fc.oneof(
    step.map((each) => `*${toStep(each)}`),
    value.map(String),
    value.map(toWord),
    fc.tuple(value, value, step).map(([one, other, each]) => {
      return `${Math.min(one, other)}-${Math.max(one, other)}${toStep(each)}`;
    }),
  );
};

const field = (...range: Parameters<typeof element>) =>
  fc.array(element(...range), { minLength: 1, maxLength: 3 }).map((elements) => elements.join(','));

const dateFields = fc.tuple(field(1, 31, [], 0), field(1, 12, months, 1), field(0, 7, weekdays, 0));

test('the days of an expression follow the manual of cron', () => {
  fc.assert(
    fc.property(dateFields, ([day, month, weekday]) => {
      assert.deepEqual(listDays(`0 0 ${day} ${month} ${weekday}`), listDaysByManual(day, month, weekday));
    }),
    { numRuns: 100 },
  );
});

test('if a day field begins with *, the day must match both fields', () => {
  const firstMondays = ['2026-01-05', '2026-02-02', '2026-03-02', '2026-04-06'];
  assert.deepEqual(listDays('0 0 */100,1-7 * MON').slice(0, 4), firstMondays);
  assert.deepEqual(listDays('0 0 */2 1 1'), ['2026-01-05', '2026-01-19']);
  assert.deepEqual(listDays('0 0 1 1 */7'), []);
  assert.deepEqual(listDays('0 0 4,5 1 */7'), ['2026-01-04']);
});

test('if no day field begins with *, one matching day field is enough', () => {
  assert.deepEqual(listDays('0 0 1-3 1 MON').slice(0, 4), ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-05']);
});

test('an expression with days that its months do not have has no times', () => {
  const from = new Date(Date.UTC(year, 0, 1));
  const never = [
    '31 2,4,6,9,11 */7',
    '30-31 feb *',
    '*/100 * 1#5',
    '1-7 1 +1#2',
    'L * +1#1',
    '1W,15W * +0,6',
    '8W * +1#1',
  ];
  for (const days of never) {
    const cron = createCron(`0 0 ${days}`, { timezone: 'Europe/Berlin' });
    assert.deepEqual([cron.nextRun(from), cron.nextRuns(3, from), cron.previousRuns(3, from)], [null, [], []], days);
  }
  for (const days of ['*/7 2 5#5', '30 2,3 *', 'L 2 +5L', '1W * +1#1', 'LW 2 +5', '31W * +5L', '31 2 1', '? 2 1#5']) {
    assert.ok(createCron(`0 0 ${days}`, { timezone: 'Europe/Berlin' }).nextRun(from), days);
  }
});

test('29 February on a certain weekday is found up to 40 years ahead', () => {
  for (const weekday of weekdays.keys()) {
    // 1900 and 2100 are not leap years.
    for (const from of [Date.UTC(1872, 2, 1), Date.UTC(2026, 0, 1), Date.UTC(2072, 2, 1), Date.UTC(2099, 11, 31)]) {
      const day = createCron(`0 0 29 2 +${weekday}`, { utcOffset: 0 }).nextRun(new Date(from));
      assert.deepEqual([day?.getUTCDate(), day?.getUTCDay()], [29, weekday]);
    }
  }
});

test('the search for times that daylight saving always skips ends after decades, not centuries', () => {
  const { nextRun, previousRuns } = createCron('*/30 2 25-31 3 */7', { timezone: 'Europe/Berlin' });
  assert.equal(nextRun(new Date(Date.UTC(year, 0, 1))), null);
  assert.equal(previousRuns(1, new Date(Date.UTC(2079, 0, 1))).length, 0);
});

test('a schedule has five fields or is a nickname of crontab(5); a date is refused', () => {
  assert.equal(listDays('@monthly').length, 12);
  assert.equal(listDays('  0\t0 1  * * ').length, 12);
  for (const wrong of ['2020-01-01T00:00:00', '0 2 * *', '0 0 2 * * *', '', '@reboot']) {
    assert.throws(
      () => createCron(wrong, {}),
      /must have five fields: minute, hour, day, month, day of the week$/,
      wrong,
    );
  }
  assert.throws(
    () => createCron('2030-01-01 00:00:00 * * *', {}),
    /^Error: "00:00:00" is not a field of a cron expression$/,
  );
});

test("Debian's cron accepts and refuses the same expressions", { skip: !existsSync('/usr/sbin/cron') }, (t) => {
  const expressions = fc.sample(dateFields, 50).map((fields) => `*/5,1-7/3 */100 ${fields.join(' ')}`);
  for (const expression of expressions) createCron(expression, {});
  const refused = ['60 * * * *', '0 0 0 * *', '0 0 * * 8', '5/10 * * * *', '*/0 * * * *', '0 0 * * 1,', '0 0 * 13 *'];
  for (const expression of refused) assert.throws(() => createCron(expression, {}), expression);
  const file = join(createFolder(t), 'crontab');
  const isAccepted = (lines: readonly string[]): boolean => {
    writeFileSync(file, lines.map((line) => `${line} true\n`).join(''));
    try {
      execFileSync('crontab', ['-n', file], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  };
  assert.ok(isAccepted(expressions));
  assert.deepEqual(
    refused.filter((each) => isAccepted([each])),
    [],
  );
});
