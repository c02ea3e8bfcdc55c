import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoginLimits } from './login-limits.ts';

/** Creates limits, and a function that fails one login from each of several addresses. */
const start = (limits: { perUser: number; inTotal: number; maxDelay?: number }) => {
  const clock = { seconds: 0 };
  const all = { perAddress: 8, maxDelay: 300, ...limits };
  const { begin } = createLoginLimits(
    all,
    () => clock.seconds,
    () => undefined,
  );
  const fail = (ip: string, user?: string): number => {
    const attempt = begin(ip, user);
    if (typeof attempt === 'number') return attempt;
    attempt.fail();
    attempt.end();
    return 0;
  };
  const failFrom = (count: number, user?: string): void => {
    for (let index = 0; index < count; index += 1) assert.equal(fail(`10.0.${index >> 8}.${index & 255}`, user), 0);
  };
  return { clock, begin, fail, failFrom };
};

test('many failed logins for a user delay only the addresses that failed', () => {
  const { clock, begin, fail, failFrom } = start({ perUser: 5, inTotal: 0 });
  failFrom(5, 'ada');
  assert.equal(fail('10.0.0.0', 'ada'), 10);
  assert.equal(fail('10.0.0.0', 'bob'), 0);
  assert.equal(fail('10.0.0.1'), 0);
  assert.equal(typeof begin('192.0.2.1', 'ada'), 'object');
  clock.seconds += 10;
  assert.equal(fail('10.0.0.2', 'ada'), 0);
});

test('failures of other addresses delay an address for at most 30 s, or maxDelay if that is shorter', () => {
  const many = start({ perUser: 5, inTotal: 0 });
  many.failFrom(100, 'ada');
  assert.equal(many.fail('10.0.0.99', 'ada'), 30);
  const short = start({ perUser: 5, inTotal: 0, maxDelay: 7 });
  short.failFrom(100, 'ada');
  assert.equal(short.fail('10.0.0.99', 'ada'), 7);
});

test('many failed logins in total delay only the addresses that failed, for every user', () => {
  const { begin, fail, failFrom } = start({ perUser: 0, inTotal: 20 });
  failFrom(20);
  assert.equal(fail('10.0.0.0', 'bob'), 10);
  assert.equal(fail('10.0.0.0'), 10);
  assert.equal(typeof begin('192.0.2.1', 'bob'), 'object');
});

test('the counts per user and in total are reset after an hour', () => {
  const { clock, fail, failFrom } = start({ perUser: 5, inTotal: 20 });
  failFrom(60, 'ada');
  clock.seconds += 3600;
  assert.deepEqual([fail('10.0.0.0', 'ada'), fail('10.0.0.0', 'ada')], [0, 0]);
});

test('ten thousand addresses are remembered; the address with the oldest failure is forgotten first', () => {
  const { fail, failFrom } = start({ perUser: 1, inTotal: 0 });
  const oldest = '192.0.2.1';
  assert.equal(fail(oldest, 'ada'), 0);
  failFrom(9_999);
  assert.equal(fail(oldest, 'ada'), 10);
  assert.equal(fail('192.0.2.2'), 0);
  assert.equal(fail(oldest, 'ada'), 0);
});
