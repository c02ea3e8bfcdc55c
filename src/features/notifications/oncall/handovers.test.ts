import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../../test/support/long.ts';
import { ZoneClock } from '../../../lib/time-zone.ts';
import { minuteMs } from '../../../lib/units.ts';
import { Handovers } from './handovers.ts';

const at = (time: string): number => Date.parse(time);
const create = (cron: string, zone: string, start = '2026-01-05T00:00:00Z') =>
  new Handovers(cron, new ZoneClock(zone), at(start));
const timesOf = (handovers: Handovers, from: string, count: number): string[] => {
  const first = handovers.numberAt(at(from)) + 1;
  return Array.from({ length: count }, (_, index) =>
    new Date(handovers.timeOf(first + index) ?? Number.NaN).toISOString().slice(0, 16),
  );
};

test('the first handover at or after the beginning has the number 0, and all others follow on both sides', () => {
  const weekly = create('0 9 * * 1', 'Europe/Berlin');
  assert.equal(weekly.timeOf(0), at('2026-01-05T08:00:00Z'));
  assert.equal(weekly.timeOf(1), at('2026-01-12T08:00:00Z'));
  assert.equal(weekly.timeOf(-1), at('2025-12-29T08:00:00Z'));
  assert.equal(weekly.numberAt(at('2026-01-12T07:59:59.999Z')), 0);
  assert.equal(weekly.numberAt(at('2026-01-12T08:00:00Z')), 1);
  assert.equal(create('0 9 * * 1', 'Europe/Berlin', '2026-01-05T08:00:00Z').timeOf(0), at('2026-01-05T08:00:00Z'));
  assert.equal(create('0 9 * * 1', 'Europe/Berlin', '2026-01-05T08:00:00.001Z').timeOf(0), at('2026-01-12T08:00:00Z'));
});

test('a weekly handover stays at the same local time when clocks change', () => {
  assert.deepEqual(timesOf(create('0 9 * * 1', 'Europe/Berlin'), '2026-03-20T00:00:00Z', 2), [
    '2026-03-23T08:00',
    '2026-03-30T07:00',
  ]);
});

test('a handover at a skipped time follows the skip, and at a repeated time happens the first time', () => {
  const daily = create('30 2 * * *', 'Europe/Berlin');
  assert.deepEqual(timesOf(daily, '2026-03-27T12:00:00Z', 3), [
    '2026-03-28T01:30',
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ]);
  assert.deepEqual(timesOf(daily, '2026-10-24T12:00:00Z', 2), ['2026-10-25T00:30', '2026-10-26T01:30']);
  assert.deepEqual(timesOf(create('0 0 * * *', 'America/Santiago'), '2026-09-05T12:00:00Z', 2), [
    '2026-09-06T04:00',
    '2026-09-07T03:00',
  ]);
});

test('hourly handovers are an hour apart when clocks change', () => {
  const hourly = create('0 * * * *', 'Europe/Berlin');
  for (const day of ['2026-03-29', '2026-10-25']) {
    assert.deepEqual(timesOf(hourly, `${day}T00:00:00Z`, 3), [`${day}T01:00`, `${day}T02:00`, `${day}T03:00`]);
  }
});

test('a whole day that a zone skipped has no handover of its own', () => {
  assert.deepEqual(timesOf(create('0 9 * * *', 'Pacific/Apia'), '2011-12-29T12:00:00Z', 3), [
    '2011-12-29T19:00',
    '2011-12-30T10:00',
    '2011-12-30T19:00',
  ]);
});

test('hourly handovers of 20 years are counted', () => {
  const hourly = create('0 * * * *', 'Europe/Berlin', '2006-01-01T00:00:00Z');
  const count = hourly.numberAt(at('2026-01-01T00:00:00Z')) - hourly.numberAt(at('2006-01-01T00:00:00Z'));
  assert.equal(count, (at('2026-01-01T00:00:00Z') - at('2006-01-01T00:00:00Z')) / (60 * minuteMs));
});

test('a handover on 29 February exists, also over 2100', () => {
  const rare = create('0 0 29 2 *', 'UTC', '2097-01-01T00:00:00Z');
  assert.equal(rare.timeOf(0), at('2104-02-29T00:00:00Z'));
  assert.equal(rare.numberAt(at('2103-12-31T00:00:00Z')), -1);
  assert.equal(rare.timeOf(-1), at('2096-02-29T00:00:00Z'));
  assert.equal(rare.timeOf(1000), undefined);
});

test('an invalid cron expression is refused with the reason', () => {
  for (const [cron, problem] of [
    ['', /^"" must have five fields: minute, hour, day, month, day of the week$/],
    ['0 0 9 * * 1', /must have five fields/],
    ['@reboot', /must have five fields/],
    ['60 9 * * *', /^Invalid value for minute: 60$/],
    ['0 9 * * 8', /^Invalid value for dayOfWeek: 8$/],
    ['0 9 * * no', /day|illegal/i],
    ['*/0 9 * * *', /stepping/],
    ['0 0 30 2 *', /^"0 0 30 2 \*" never matches a date$/],
    ['*/30 * * * *', /^handovers must be at most hourly, but this expression has more than 24 a day$/],
    ['* * * * *', /at most hourly/],
  ] as const) {
    assert.throws(
      () => create(cron, 'UTC'),
      (error: Error) => problem.test(error.message) || assert.fail(error.message),
      cron,
    );
  }
});

const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Africa/Casablanca'];

test('handovers happen when clocks, read each minute, first show one of their times', () => {
  const model = fc.property(
    fc.constantFrom(...zones),
    fc.constantFrom('2026-03-27', '2026-10-23', '2026-03-06', '2026-10-30', '2026-04-03', '2026-10-02', '2026-09-04'),
    fc.uniqueArray(fc.nat(6), { minLength: 1 }),
    fc.uniqueArray(fc.nat(23), { minLength: 1, maxLength: 6 }),
    fc.uniqueArray(fc.constantFrom<number[]>(0, 15, 30, 59), { minLength: 1, maxLength: 3 }),
    (zone, start, weekdays, hours, minutes) => {
      const handovers = create(`${minutes} ${hours} * * ${weekdays}`, zone);
      const clock = new ZoneClock(zone);
      const begin = at(`${start}T00:00:00Z`);
      const expected = new Set<number>();
      let latest = clock.toLocal(begin);
      for (let time = begin + minuteMs; time < begin + 4 * 1440 * minuteMs; time += minuteMs) {
        const local = clock.toLocal(time);
        // Covers each minute that clocks now show for the first time or have just skipped.
        for (let shown = latest + minuteMs; shown <= local; shown += minuteMs) {
          const date = new Date(shown);
          if (
            weekdays.includes(date.getUTCDay()) &&
            hours.includes(date.getUTCHours()) &&
            minutes.includes(date.getUTCMinutes())
          )
            expected.add(time);
        }
        latest = Math.max(latest, local);
      }
      const found: number[] = [];
      let number = handovers.numberAt(begin) + 1;
      for (let time = handovers.timeOf(number); time !== undefined && time < begin + 4 * 1440 * minuteMs; ) {
        found.push(time);
        assert.equal(handovers.numberAt(time), number);
        assert.equal(handovers.numberAt(time - 1), number - 1);
        number += 1;
        time = handovers.timeOf(number);
      }
      assert.deepEqual(found, [...expected]);
    },
  );
  fc.assert(model, { numRuns: amount(40, 1000) });
});
