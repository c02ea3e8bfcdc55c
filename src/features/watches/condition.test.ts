import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  beginCondition,
  type ConditionEvent,
  type FigureLimits,
  observe,
  observeFault,
  stepCondition,
} from './condition.ts';

const second = 1000;

/** Returns the events for readings taken once a second. Undefined stands for a failed check. */
const run = (readings: readonly (number | undefined)[], limits: FigureLimits, forMs = 0): ConditionEvent[][] => {
  let state = beginCondition();
  return readings.map((figure, index) => {
    const next = stepCondition(
      state,
      figure === undefined ? undefined : observe(figure, limits),
      index * second,
      forMs,
    );
    state = next.state;
    return next.events;
  });
};

const limits: FigureLimits = { limit: 90, critical: 97, isLowBad: false };

test('a figure raises at the limit, and clears 2 percent below the limit', () => {
  assert.deepEqual(run([89.9, 90, 89, 88.3, 88.2, 88.2], limits), [[], ['raised'], [], [], ['cleared'], []]);
  assert.deepEqual(run([90, 86, 85], { ...limits, clear: 85 }), [['raised'], [], ['cleared']]);
});

test('limits of a figure for which less is worse work the other way round', () => {
  const days: FigureLimits = { limit: 14, critical: 3, isLowBad: true };
  assert.deepEqual(run([15, 14, 14.2, 2, 3.01, 3.1, 20], days), [
    [],
    ['raised'],
    [],
    ['worsened'],
    [],
    ['eased'],
    ['cleared'],
  ]);
});

test('a limit must be reached without a break for as long as `for`', () => {
  assert.deepEqual(run([91, 91, 89, 91, 91, 91], limits, 2 * second), [[], [], [], [], [], ['raised']]);
  assert.deepEqual(run([91, 91, 98, 98, 98, 98], limits, 3 * second), [[], [], [], ['raised'], [], ['worsened']]);
});

test('a failed check does not restart the time of `for`, and is reported once checks have failed for that long', () => {
  assert.deepEqual(run([91, undefined, 91, undefined, undefined, undefined, 91, 91, 91], limits, 2 * second), [
    [],
    [],
    ['raised'],
    [],
    [],
    ['cannot check'],
    ['can check'],
    [],
    [],
  ]);
  assert.deepEqual(run([undefined, undefined, 10], limits), [['cannot check'], [], ['can check']]);
});

test('a yes-or-no check has one level', () => {
  const bad = stepCondition(beginCondition(), observeFault(true), 0, 0);
  assert.deepEqual(bad.events, ['raised']);
  assert.deepEqual(stepCondition(bad.state, observeFault(false), 1, 0).events, ['cleared']);
});

test('in any sequence, only the readings within the last `for` decide which limit fires', () => {
  const reading = fc.option(fc.double({ min: 80, max: 100, noNaN: true }), { nil: undefined, freq: 8 });
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 60 }), fc.integer({ min: 0, max: 4 }), (readings, seconds) => {
      let state = beginCondition();
      let [isRaised, isReported] = [false, false];
      for (const [index, figure] of readings.entries()) {
        const observation = figure === undefined ? undefined : observe(figure, limits);
        const next = stepCondition(state, observation, index * second, seconds * second);
        for (const event of next.events) {
          // Events alternate.
          if (event === 'raised' || event === 'cleared') {
            assert.equal(isRaised, event === 'cleared');
            isRaised = event === 'raised';
          } else if (event === 'worsened' || event === 'eased') assert.ok(isRaised);
          else {
            assert.equal(isReported, event === 'can check');
            isReported = event === 'cannot check';
          }
        }
        assert.equal(next.state.firing !== undefined, isRaised);
        const last = readings.slice(Math.max(0, index - seconds), index + 1);
        const isKnown = last.length === seconds + 1 && last.every((each) => each !== undefined);
        if (isKnown && last.every((each) => Number(each) >= 97)) assert.equal(next.state.firing, 'critical');
        else if (isKnown && last.every((each) => Number(each) >= 90)) assert.ok(next.state.firing);
        if (figure !== undefined && figure <= 88.2) assert.equal(next.state.firing, undefined);
        if (next.events.includes('raised')) {
          const known = last.filter((each) => each !== undefined);
          assert.ok(known.every((each) => each >= 90));
        }
        state = next.state;
      }
    }),
  );
});
