import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AttemptLimits, createLoginLimits } from './login-limits.ts';

const a = '192.0.2.1';
const b = '192.0.2.2';
const usual: AttemptLimits = { perAddress: 3, perUser: 0, inTotal: 0, maxDelay: 100 };

/** Creates limits with a manual clock, and shorthand functions for attempts. */
const start = (changes: Partial<AttemptLimits> = {}) => {
  const clock = { seconds: 1000 };
  const delayed: (string | undefined)[] = [];
  const tell = (ip: string | undefined) => delayed.push(ip);
  const { begin } = createLoginLimits({ ...usual, ...changes }, () => clock.seconds, tell);
  const end = (ip: string, user: string | undefined, outcome: 'fail' | 'succeed'): number => {
    const attempt = begin(ip, user);
    if (typeof attempt === 'number') return attempt;
    attempt[outcome]();
    attempt.end();
    return 0;
  };
  return {
    clock,
    delayed,
    begin,
    fail: (ip: string, user?: string) => end(ip, user, 'fail'),
    succeed: (ip: string, user: string) => end(ip, user, 'succeed'),
  };
};

const repeat = (times: number, run: () => number): number[] => Array.from({ length: times }, run);

test('after its free attempts an address is delayed by 10 s, then twice as long each time, up to maxDelay', () => {
  const { clock, fail } = start();
  assert.deepEqual(
    repeat(3, () => fail(a, 'ada')),
    [0, 0, 0],
  );
  for (const delay of [10, 20, 40, 80, 100, 100]) {
    assert.equal(fail(a, 'ada'), delay);
    clock.seconds += delay - 0.5;
    assert.equal(fail(a, 'ada'), 1);
    clock.seconds += 0.5;
    assert.equal(fail(a, 'ada'), 0);
  }
});

test('a delayed address is reported once, when its free attempts are used up', () => {
  const { clock, fail, delayed } = start();
  repeat(3, () => fail(a));
  assert.deepEqual(delayed, [a]);
  clock.seconds += 10;
  fail(a);
  assert.deepEqual(delayed, [a]);
});

test('a delayed address waits even with the correct password, and can log in after the delay', () => {
  const { clock, fail, succeed } = start();
  repeat(3, () => fail(a, 'ada'));
  assert.equal(succeed(a, 'ada'), 10);
  clock.seconds += 10;
  assert.equal(succeed(a, 'ada'), 0);
  assert.deepEqual(
    repeat(4, () => fail(a, 'ada')),
    [0, 0, 0, 10],
  );
});

test('an address without failed logins is not delayed by those of another address, even for the same user', () => {
  const { fail, succeed } = start();
  repeat(9, () => fail(a, 'ada'));
  assert.equal(succeed(b, 'ada'), 0);
});

test('a successful login clears the failures of its user and of unknown users, but not of other users', () => {
  const { fail, succeed } = start();
  assert.deepEqual([fail(a, 'ada'), fail(a), succeed(a, 'ada')], [0, 0, 0]);
  assert.deepEqual([fail(a, 'bob'), succeed(a, 'ada'), fail(a, 'bob')], [0, 0, 0]);
  assert.deepEqual([succeed(a, 'ada'), fail(a, 'bob'), succeed(a, 'ada')], [0, 0, 10]);
});

test('logins that are being checked count as failed until they end', () => {
  const { begin, clock, fail } = start();
  fail(a);
  const [first, second] = [begin(a, 'ada'), begin(a, 'ada')];
  assert.equal(begin(a, 'ada'), 1);
  assert.ok(typeof first === 'object' && typeof second === 'object');
  first.end();
  assert.equal(fail(a), 0);
  second.fail();
  second.end();
  assert.equal(fail(a), 10);
  clock.seconds += 10;
  assert.equal(typeof begin(a, 'ada'), 'object');
  assert.equal(begin(a, 'ada'), 1);
});

test('an address is forgotten an hour after its last failed login', () => {
  const { clock, fail } = start();
  repeat(3, () => fail(a));
  clock.seconds += 3601;
  assert.deepEqual(
    repeat(4, () => fail(a)),
    [0, 0, 0, 10],
  );
});

test('a limit of 0 free attempts means no limit', () => {
  const { fail } = start({ perAddress: 0 });
  assert.ok(repeat(1000, () => fail(a, 'ada')).every((wait) => wait === 0));
});
