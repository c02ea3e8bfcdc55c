import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Arbitrary } from 'fast-check';
import { fc } from '../../../test/support/random.ts';
import { findHoldEnd, type PossibleCause } from './hold.ts';

const minute = fc.integer({ min: 0, max: 20 });
const cause: Arbitrary<PossibleCause> = fc.record({
  isOpen: fc.boolean(),
  endedAt: fc.option(minute, { nil: undefined }),
  knownAt: minute,
});

test('an incident is held exactly while its cause is open, was resolved within the grace period, or is not checked yet', () => {
  fc.assert(
    fc.property(minute, fc.array(cause, { maxLength: 4 }), minute, minute, (openedAt, causes, graceMs, now) => {
      const until = findHoldEnd({ openedAt }, causes, graceMs, now);
      const isHeld = (at: number): boolean =>
        causes.some(({ isOpen, endedAt = -100, knownAt }) => isOpen || at < endedAt + graceMs || at < knownAt);
      for (let at = now; at <= 50; at += 1) assert.equal(at < until, isHeld(at), `${at} ${until}`);
    }),
  );
});

test('a time recorded before the clock was set back does not hold an incident', () => {
  const hour = 3_600_000;
  assert.equal(findHoldEnd({ openedAt: hour }, [{ isOpen: false, endedAt: hour, knownAt: hour }], 120_000, 0), 0);
  assert.equal(
    findHoldEnd({ openedAt: 0 }, [{ isOpen: true, endedAt: undefined, knownAt: 0 }], 0, 0),
    Number.POSITIVE_INFINITY,
  );
});
