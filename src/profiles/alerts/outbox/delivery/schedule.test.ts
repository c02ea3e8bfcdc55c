import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSchedule, toOutcome } from './schedule.ts';

const now = new Date('2026-01-31T08:30:00Z');

test('the waits are 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and up to a tenth longer', () => {
  const { waitAfter, longest } = createSchedule();
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 840, 1200, 1440];
  for (const [index, wait] of minutes.entries()) {
    const ms = waitAfter(index + 1) ?? Number.NaN;
    assert.ok(ms >= wait * 60_000 && ms <= wait * 66_000 && ms <= longest, `${ms}`);
  }
  assert.equal(waitAfter(10), undefined);
  const waits = new Set(Array.from({ length: 20 }, () => waitAfter(1)));
  assert.ok(waits.size > 1);
});

test('retrySeconds replace the waits, and may be none', () => {
  const { waitAfter } = createSchedule([0, 2]);
  assert.equal(waitAfter(1), 0);
  assert.ok((waitAfter(2) ?? 0) >= 2000);
  assert.equal(waitAfter(3), undefined);
  assert.equal(createSchedule([]).waitAfter(1), undefined);
});

test('a status decides whether an alert is delivered, parked or tried again', () => {
  const kindOf = (status: number) => toOutcome(status, undefined, now).kind;
  for (const status of [200, 202, 204, 299]) assert.equal(kindOf(status), 'delivered');
  for (const status of [400, 404, 408, 413, 451]) assert.equal(kindOf(status), 'refused');
  for (const status of [301, 308, 429, 500, 503, 599]) assert.equal(kindOf(status), 'failed');
  assert.equal(kindOf(410), 'gone');
});

test('Retry-After of 429 and 503 is seconds or a date, at most a day', () => {
  const secondsOf = (status: number, text: string) => {
    const outcome = toOutcome(status, text, now);
    return outcome.kind === 'failed' ? outcome.seconds : undefined;
  };
  for (const status of [429, 503]) {
    assert.equal(secondsOf(status, '120'), 120);
    assert.equal(secondsOf(status, '999999999'), 86_400);
    assert.equal(secondsOf(status, 'Sat, 31 Jan 2026 08:31:00 GMT'), 60);
    for (const text of ['', 'soon', '-5', 'Sat, 31 Jan 2026 08:00:00 GMT']) assert.equal(secondsOf(status, text), 0);
  }
  assert.equal(secondsOf(500, '120'), 0);
});
