import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTimes } from './expected-times.ts';

const dueAfter = (schedule: string, at: string): string =>
  new Date(compileTimes({ schedule, timeZone: 'UTC' }).dueAfter(Date.parse(at))).toISOString().slice(0, 16);

test('a ping up to a minute or a tenth of the interval before a scheduled time counts for that time', () => {
  assert.equal(dueAfter('0 2 * * *', '2026-01-31T01:59:59Z'), '2026-02-01T02:00');
  assert.equal(dueAfter('0 2 * * *', '2026-01-31T01:59:00Z'), '2026-02-01T02:00');
  assert.equal(dueAfter('0 2 * * *', '2026-01-31T01:58:59Z'), '2026-01-31T02:00');
  assert.equal(dueAfter('0 2 * * *', '2026-01-31T02:00:00Z'), '2026-02-01T02:00');
  assert.equal(dueAfter('* * * * *', '2026-01-31T01:59:54Z'), '2026-01-31T02:01');
  assert.equal(dueAfter('* * * * *', '2026-01-31T01:59:53Z'), '2026-01-31T02:00');
});

test('the shorter of the intervals before and after a scheduled time limits how early a ping may be', () => {
  assert.equal(dueAfter('0,1 * * * *', '2026-01-31T02:00:00Z'), '2026-01-31T02:01');
  assert.equal(dueAfter('0,1 * * * *', '2026-01-31T02:00:55Z'), '2026-01-31T03:00');
  assert.equal(dueAfter('0,1 * * * *', '2026-01-31T01:59:50Z'), '2026-01-31T02:00');
});
