import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDurationText } from './duration.ts';
import { minuteMs } from './units.ts';

test('durations are rounded to minutes, and from a day on to hours', () => {
  assert.deepEqual(
    [0, 999, 29_000, 31_000, 60 * minuteMs, 61 * minuteMs, 1500 * minuteMs, 2880 * minuteMs, -5].map(toDurationText),
    ['1 s', '1 s', '29 s', '1 min', '1 h', '1 h 1 min', '1 d 1 h', '2 d', '1 s'],
  );
});
