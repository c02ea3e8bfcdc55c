import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDeliveryOutcome } from './outcome.ts';
import { createBackoff } from './retries.ts';

const now = new Date('2026-01-31T08:30:00Z');
const hour = 3_600_000;

test('retries wait 1, 2, 5, 10, 20 and 30 s, then a minute for an hour, then 5 minutes, each up to a tenth longer', () => {
  const { waitAfter, mostAttempts } = createBackoff({});
  const seconds = [1, 2, 5, 10, 20, 30, ...Array(60).fill(60), 300, 300];
  let total = 0;
  for (const [index, wait] of seconds.entries()) {
    const ms = waitAfter(index + 1);
    assert.ok(ms >= wait * 1000 && ms <= wait * 1100, `${ms}`);
    if (wait < 300) total += wait;
  }
  assert.ok(total > 3600 && total < 3700, `${total} s`);
  assert.equal(mostAttempts, Number.POSITIVE_INFINITY);
  const waits = new Set(Array.from({ length: 20 }, () => waitAfter(1)));
  assert.ok(waits.size > 1);
});

test('a rejected destination is retried every minute for an hour, then every 5 minutes', () => {
  const { waitAfterRejected } = createBackoff({});
  for (const attempts of [1, 2, 66])
    assert.ok(waitAfterRejected(attempts) >= 60_000 && waitAfterRejected(attempts) <= 66_000);
  assert.ok(waitAfterRejected(67) >= 300_000);
});

test('retrySeconds replace the backoff, and the alert is given up after the last of them', () => {
  const { waitAfter, waitAfterRejected, mostAttempts } = createBackoff({ retrySeconds: [0, 2] });
  assert.equal(waitAfter(1), 0);
  assert.ok(waitAfter(2) >= 2000);
  assert.ok(waitAfter(3) >= 2000);
  assert.ok(waitAfterRejected(1) >= 2000);
  assert.equal(mostAttempts, 3);
  const none = createBackoff({ retrySeconds: [] });
  assert.deepEqual([none.waitAfter(1), none.mostAttempts], [0, 1]);
  assert.ok(none.waitAfterRejected(1) >= 1000);
});

test('an alert is tried for 24 hours, for giveUpHours, or for as long as retrySeconds take if that is longer', () => {
  assert.equal(createBackoff({}).giveUpMs, 24 * hour);
  assert.equal(createBackoff({ giveUpHours: 2 }).giveUpMs, 2 * hour);
  assert.equal(createBackoff({ retrySeconds: [1] }).giveUpMs, 24 * hour);
  assert.ok(createBackoff({ retrySeconds: [3600 * 48] }).giveUpMs >= 48 * hour);
  assert.equal(createBackoff({}).failingMs, 15 * 60_000);
  assert.equal(Math.round(createBackoff({ giveUpHours: 0.01 }).failingMs), 3600);
});

test('the status of a response decides whether the alert is delivered, refused or retried, or the destination is rejected', () => {
  const kindOf = (status: number) => toDeliveryOutcome(status, undefined, now).kind;
  for (const status of [200, 202, 204, 299]) assert.equal(kindOf(status), 'delivered');
  for (const status of [400, 413, 414, 422, 431]) assert.equal(kindOf(status), 'refused');
  for (const status of [301, 308, 401, 403, 404, 405, 410, 451]) assert.equal(kindOf(status), 'rejected');
  for (const status of [408, 425, 429, 500, 503, 599, 999]) assert.equal(kindOf(status), 'failed');
});

test('Retry-After of 429 and 503 is seconds or a date, at most a day', () => {
  const secondsOf = (status: number, text: string) => {
    const outcome = toDeliveryOutcome(status, text, now);
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
