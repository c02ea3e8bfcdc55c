import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration, toDurationText, toDurationWords } from './duration.ts';
import { minuteMs } from './units.ts';

test('durations are rounded to minutes, and from a day on to hours', () => {
  assert.deepEqual(
    [0, 999, 29_000, 31_000, 60 * minuteMs, 61 * minuteMs, 1500 * minuteMs, 2880 * minuteMs, -5].map(toDurationText),
    ['1 s', '1 s', '29 s', '1 min', '1 h', '1 h 1 min', '1 d 1 h', '2 d', '1 s'],
  );
});

test('a duration is a whole number of seconds, minutes or hours', () => {
  assert.deepEqual(
    ['90 seconds', '1 minute', '5minutes', ' 2 hours '].map(parseDuration),
    [90_000, 60_000, 300_000, 7_200_000],
  );
  for (const text of ['', '5', '5 m', '-1 minutes', '1.5 hours', '1 day', '5 minutes 3 seconds', '1000000 seconds']) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

test('a duration is written in its largest whole unit', () => {
  assert.deepEqual([90_000, 60_000, 7_200_000, 0].map(toDurationWords), [
    '90 seconds',
    '1 minute',
    '2 hours',
    '0 seconds',
  ]);
});
