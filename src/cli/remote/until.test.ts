import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUsageError } from '../args.ts';
import { parseSince, parseUntil } from './until.ts';

const now = new Date('2026-03-10T14:30:00');

test('a time of day means its next occurrence, a duration counts from now, and other times have an offset', () => {
  for (const [text, at] of [
    ['18:00', '2026-03-10T18:00:00'],
    ['14:30', '2026-03-11T14:30:00'],
    ['8:05', '2026-03-11T08:05:00'],
    ['Thu 18:00', '2026-03-12T18:00:00'],
    ['tue 18:00', '2026-03-10T18:00:00'],
    ['TUE 14:30', '2026-03-17T14:30:00'],
    ['30m', '2026-03-10T15:00:00'],
    ['2h', '2026-03-10T16:30:00'],
    ['1d', '2026-03-11T14:30:00'],
    ['2036-01-31T08:30:00Z', '2036-01-31T08:30:00Z'],
  ] as const) {
    assert.equal(parseUntil(text, now).getTime(), new Date(at).getTime(), text);
  }
});

test('the end of a future period is the first occurrence of the time of day after the beginning', () => {
  const from = new Date('2026-03-14T08:00:00');
  assert.equal(parseUntil('18:00', now, from).getTime(), new Date('2026-03-14T18:00:00').getTime());
  assert.equal(parseUntil('Sat 07:00', now, from).getTime(), new Date('2026-03-21T07:00:00').getTime());
  assert.equal(parseUntil('5d', now, from).getTime(), new Date('2026-03-15T14:30:00').getTime());
  for (const text of ['2h', '2026-03-14T07:00:00Z']) assert.throws(() => parseUntil(text, now, from), isUsageError);
});

test('texts in other forms and past times are refused', () => {
  for (const text of [
    '',
    '25:00',
    '2 h',
    '0m',
    'tomorrow',
    'foo 18:00',
    'Thu',
    '2036-01-31',
    '2036-01-31T08:30',
    '2030-02-30T08:30:00Z',
    '2030-04-31T08:30:00Z',
    '2031-02-29T08:30:00+01:00',
    '2030-00-01T08:30:00Z',
    '2030-13-01T08:30:00Z',
    '2020-01-31T08:30:00Z',
  ]) {
    assert.throws(() => parseUntil(text, now), isUsageError, text);
  }
});

test('a start time is in the past: a duration before now, or the last occurrence of a time of day', () => {
  for (const [text, at] of [
    ['2h', '2026-03-10T12:30:00'],
    ['1d', '2026-03-09T14:30:00'],
    ['9:00', '2026-03-10T09:00:00'],
    ['14:30', '2026-03-10T14:30:00'],
    ['18:00', '2026-03-09T18:00:00'],
    ['Thu 18:00', '2026-03-05T18:00:00'],
    ['tue 14:30', '2026-03-10T14:30:00'],
    ['2020-01-31T08:30:00Z', '2020-01-31T08:30:00Z'],
  ] as const) {
    assert.equal(parseSince(text, now).getTime(), new Date(at).getTime(), text);
  }
  for (const text of ['', '0', '2 h', 'yesterday', '2036-01-31T08:30:00Z', '2020-01-31']) {
    assert.throws(() => parseSince(text, now), isUsageError, text);
  }
});
