import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createWindows } from './windows.ts';

type SilenceTimes = Parameters<typeof createWindows>[0];

const at = (text: string): number => Date.parse(text);
const show = (times: SilenceTimes, text: string): string => {
  const window = createWindows(times).findAt(at(text));
  return window
    ? `${new Date(window.startsAt).toISOString()} ${new Date(window.endsAt).toISOString()}`.replaceAll(':00.000', '')
    : 'none';
};
const berlin = (schedule: string, minutes: number): SilenceTimes => ({
  startsAt: 0,
  endsAt: null,
  recurring: { schedule, timeZone: 'Europe/Berlin', minutes },
});

test('a silence without a schedule holds from its start until before its end', () => {
  const times = { startsAt: 10, endsAt: 20 };
  const { findAt } = createWindows(times);
  assert.deepEqual([findAt(0), findAt(19), findAt(20)], [times, times, undefined]);
});

test('a recurring silence holds in each window, in its time zone', () => {
  const saturday = berlin('0 2 * * 6', 90);
  assert.equal(show(saturday, '2026-01-30T12:00Z'), '2026-01-31T01:00Z 2026-01-31T02:30Z');
  assert.equal(show(saturday, '2026-01-31T01:00Z'), '2026-01-31T01:00Z 2026-01-31T02:30Z');
  assert.equal(show(saturday, '2026-01-31T02:29:59.999Z'), '2026-01-31T01:00Z 2026-01-31T02:30Z');
  assert.equal(show(saturday, '2026-01-31T02:30Z'), '2026-02-07T01:00Z 2026-02-07T02:30Z');
  assert.equal(show(saturday, '2026-07-03T12:00Z'), '2026-07-04T00:00Z 2026-07-04T01:30Z');
});

test('a window keeps its length when clocks change, and a window that would begin in the skipped hour begins after it', () => {
  // Clocks go from 2:00 to 3:00 on 2026-03-29, and back from 3:00 to 2:00 on 2026-10-25.
  assert.equal(show(berlin('0 1 * * *', 120), '2026-03-29T00:30Z'), '2026-03-29T00:00Z 2026-03-29T02:00Z');
  assert.equal(show(berlin('30 2 * * *', 60), '2026-03-28T12:00Z'), '2026-03-29T01:00Z 2026-03-29T02:00Z');
  assert.equal(show(berlin('0 1 * * *', 120), '2026-10-24T23:30Z'), '2026-10-24T23:00Z 2026-10-25T01:00Z');
  // 2:30 occurs twice, but there is only one window.
  assert.equal(show(berlin('30 2 * * *', 10), '2026-10-24T12:00Z'), '2026-10-25T00:30Z 2026-10-25T00:40Z');
  assert.equal(show(berlin('30 2 * * *', 10), '2026-10-25T01:00Z'), '2026-10-26T01:30Z 2026-10-26T01:40Z');
});

test('overlapping and touching windows are joined, and windows end with their silence', () => {
  const hourly = { ...berlin('0 8-10 * * *', 60), endsAt: at('2026-01-31T09:30Z') };
  assert.equal(show(hourly, '2026-01-31T06:00Z'), '2026-01-31T07:00Z 2026-01-31T09:30Z');
  assert.equal(
    show({ ...hourly, startsAt: at('2026-01-31T07:30Z') }, '2026-01-31T07:00Z'),
    '2026-01-31T07:30Z 2026-01-31T09:30Z',
  );
  assert.equal(show(hourly, '2026-01-31T09:30Z'), 'none');
  const always = createWindows(berlin('* * * * *', 10_000));
  assert.ok((always.findAt(at('2026-01-31T07:30Z'))?.startsAt ?? Infinity) <= at('2026-01-31T07:30Z'));
});

test('invalid schedules and time zones are refused', () => {
  const refused: [string, string, RegExp][] = [
    ['', 'UTC', /schedule must be a cron expression/],
    ['0 0 0 * * *', 'UTC', /schedule must be a cron expression/],
    ['61 * * * *', 'UTC', /schedule must be a cron expression/],
    ['0 0 30 2 *', 'UTC', /never matches a date/],
    ['0 0 * * *', 'No/Where', /timeZone must be a name/],
  ];
  for (const [schedule, timeZone, message] of refused) {
    const recurring = { schedule, timeZone, minutes: 1 };
    assert.throws(() => createWindows({ startsAt: 0, endsAt: null, recurring }), { status: 400, message }, schedule);
  }
});

test('in any order of calls, a time is in a window exactly if a window began less than its length before', () => {
  const minute = 60_000;
  const start = at('2026-03-28T00:00Z');
  fc.assert(
    fc.property(
      fc.constantFrom('*/7 * * * *', '30 2 * * *', '0 */5 * * *', '15,45 3 * * 0'),
      fc.constantFrom('Europe/Berlin', 'America/New_York', 'UTC', 'Australia/Lord_Howe'),
      fc.integer({ min: 1, max: 400 }),
      fc.array(fc.integer({ min: 0, max: 4 * 24 * 60 * 60 }), { minLength: 1, maxLength: 10 }),
      (schedule, timeZone, minutes, offsets) => {
        const recurring = { schedule, timeZone, minutes };
        const { findAt } = createWindows({ startsAt: 0, endsAt: null, recurring });
        for (const offset of offsets) {
          const time = start + offset * 1000;
          // Every start falls in its own minute, so a one-minute window is open exactly during the minute of a start.
          const starts = createWindows({ startsAt: 0, endsAt: null, recurring: { ...recurring, minutes: 1 } });
          let isOpen = false;
          for (let back = 0; back < minutes && !isOpen; back += 1) {
            const found = starts.findAt(Math.floor(time / minute) * minute - back * minute);
            isOpen = found !== undefined && found.startsAt <= Math.floor(time / minute) * minute - back * minute;
          }
          const window = findAt(time);
          assert.equal(window !== undefined && window.startsAt <= time && time < window.endsAt, isOpen);
        }
      },
    ),
    { numRuns: 20 },
  );
});
