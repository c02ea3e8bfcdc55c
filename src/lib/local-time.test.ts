import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toLocalDay, toLocalMinute, toLocalSecond, toLocalTime, toLocalTimestamp } from './local-time.ts';

test('a timestamp is local time to the second, and follows the clock from second to second', () => {
  const moments: [Date, string, string][] = [
    [new Date(2026, 0, 2, 3, 4, 5, 999), '2026-01-02T03:04:05', '03:04:05'],
    [new Date(2026, 0, 2, 3, 4, 6, 0), '2026-01-02T03:04:06', '03:04:06'],
    [new Date(2026, 11, 31, 23, 59, 59, 0), '2026-12-31T23:59:59', '23:59:59'],
    [new Date(2026, 0, 2, 3, 4, 5, 0), '2026-01-02T03:04:05', '03:04:05'],
  ];
  for (const [moment, timestamp, time] of moments) {
    assert.deepEqual([toLocalTimestamp(moment), toLocalTime(moment)], [timestamp, time]);
  }
});

test('times for people are local, with their offset', () => {
  const moment = new Date(2026, 0, 2, 3, 4, 5, 999).getTime();
  assert.match(toLocalMinute(moment), /^2026-01-02 03:04 [+-]\d\d:\d\d$/);
  assert.match(toLocalSecond(moment), /^2026-01-02 03:04:05 [+-]\d\d:\d\d$/);
  assert.equal(toLocalDay(moment), '2026-01-02');
});
