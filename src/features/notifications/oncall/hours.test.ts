import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../../test/support/long.ts';
import { minuteMs } from '../../../lib/units.ts';
import { parseHours } from './hours.ts';

const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

const at = (time: string): number => Date.parse(time);
const isOpen = (text: string, time: string, zone = 'UTC'): boolean => parseHours(text, zone).isWithin(at(time));

test('hours include their first minute and exclude their end', () => {
  const text = 'Mon-Fri 08:00-18:00 Europe/Berlin';
  assert.equal(isOpen(text, '2026-11-25T06:59:59.999Z'), false);
  assert.equal(isOpen(text, '2026-11-25T07:00:00Z'), true);
  assert.equal(isOpen(text, '2026-11-25T16:59:59.999Z'), true);
  assert.equal(isOpen(text, '2026-11-25T17:00:00Z'), false);
  assert.equal(isOpen(text, '2026-11-28T12:00:00Z'), false);
});

test('several ranges, single days, spaces, 24:00 and capitals are understood', () => {
  const text = 'mon, Wed 8:00 - 12:00,13:00-17:00 , SAT 20:00-24:00 utc';
  assert.equal(isOpen(text, '2026-11-25T08:00:00Z', 'Asia/Tokyo'), true);
  assert.equal(isOpen(text, '2026-11-25T12:30:00Z', 'Asia/Tokyo'), false);
  assert.equal(isOpen(text, '2026-11-23T16:59:00Z', 'Asia/Tokyo'), true);
  assert.equal(isOpen(text, '2026-11-24T09:00:00Z', 'Asia/Tokyo'), false);
  assert.equal(isOpen(text, '2026-11-28T23:59:59Z', 'Asia/Tokyo'), true);
  assert.equal(isOpen(text, '2026-11-29T00:00:00Z', 'Asia/Tokyo'), false);
});

test('without a zone, hours are in the zone of the server', () => {
  assert.equal(isOpen('08:00-09:00', '2026-11-24T23:30:00Z', 'Asia/Tokyo'), true);
  assert.equal(isOpen('08:00-09:00', '2026-11-25T08:30:00Z', 'Asia/Tokyo'), false);
});

test('an invalid text is refused with an example', () => {
  for (const [text, problem] of [
    ['', /^"" is not a time of the week; write times as in "Mon-Fri 08:00-18:00, Sat 10:00-14:00 Europe\/Berlin"$/],
    ['Mon-Fri', /^Mon has no times, such as 00:00-24:00;/],
    ['08:00-18:00, Sat', /^Sat has no times/],
    ['Mon-Fri 08:00-25:00', /^"08:00-25:00" is not a time such as 08:00-18:00;/],
    ['Mon 24:00-25:00', /is not a time such as/],
    ['Mon 10:00-10:00', /^10:00-10:00 begins and ends at the same time: for a whole day, write 00:00-24:00;/],
    ['Mon-Fri 08:00-18:00 Mars/Olympus', /^"Mars\/Olympus" is not a time zone such as Europe\/Berlin or UTC;/],
    ['Mon-Fri 08:00-18:00 +01:00', /is not a time of the week/],
    ['Mon 08:00-18:00 Europe/Berlin, Tue 08:00-18:00', /is not a time of the week/],
    ['Mon 08:00-12:00,, Tue 08:00-12:00', /^"" is not a time of the week/],
    ['Mon-Foo 08:00-18:00', /is not a time of the week/],
    ['always', /^"always" is not a time such as/],
    ['Mon 08:00-18:00\0', /is not a time/],
  ] as const) {
    assert.throws(
      () => parseHours(text, 'UTC'),
      (error: Error) => problem.test(error.message) || assert.fail(error.message),
      text,
    );
  }
});

/** Zones with half-hour changes and changes at midnight, in both hemispheres, and a zone without changes. */
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Africa/Casablanca',
  'UTC',
];

/** Start times around each zone's clock changes and other edge cases. */
const starts = [
  '2026-03-28',
  '2026-10-24',
  '2026-03-07',
  '2026-10-31',
  '2026-04-04',
  '2026-10-03',
  '2026-09-05',
  '2026-02-14',
];

const toTime = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

const ranges = fc.record({
  first: fc.nat(6),
  last: fc.nat(6),
  start: fc.nat(1439),
  length: fc.integer({ min: 1, max: 1439 }),
});

test('isWithin and nextWithin agree with clocks that are read each minute', () => {
  const formats = new Map(
    zones.map((timeZone) => [
      timeZone,
      new Intl.DateTimeFormat('en-US', {
        timeZone,
        weekday: 'short',
        hour: '2-digit',
        minute: '2-digit',
        hourCycle: 'h23',
      }),
    ]),
  );
  const read = (zone: string, time: number): { day: number; minute: number } => {
    const [, day = '', hour, minute] = /^(\w+),? (\d+):(\d+)$/.exec(formats.get(zone)?.format(time) ?? '') ?? [];
    return { day: names.indexOf(day), minute: Number(hour) * 60 + Number(minute) };
  };
  const model = fc.property(
    fc.array(ranges, { minLength: 1, maxLength: 3 }),
    fc.constantFrom(...zones),
    fc.constantFrom(...starts),
    fc.nat(3 * 1440),
    (given, zone, start, later) => {
      const text = given.map(({ first, last, start: from, length }) => {
        const end = (from + length) % 1440;
        return `${names[first]}-${names[last]} ${toTime(from)}-${end === 0 ? '24:00' : toTime(end)}`;
      });
      const hours = parseHours(`${text.join(', ')} ${zone}`, 'UTC');
      const isModel = (time: number): boolean => {
        const { day, minute } = read(zone, time);
        return given.some(({ first, last, start: from, length }) => {
          const isDay = (each: number) => (each - first + 7) % 7 <= (last - first + 7) % 7;
          if (isDay(day) && from <= minute && minute < from + length) return true;
          return isDay((day + 6) % 7) && minute + 1440 < from + length;
        });
      };
      const begin = at(`${start}T00:00:00Z`) + later * minuteMs;
      let next = begin;
      // A start occurs within eight days rather than seven, because one may be skipped.
      for (let count = 0; count < 8 * 1440 && !isModel(next); count += 1) next += minuteMs;
      assert.equal(hours.isWithin(begin), next === begin);
      assert.equal(hours.nextWithin(begin), next);
    },
  );
  fc.assert(model, { numRuns: amount(300, 10_000) });
});
