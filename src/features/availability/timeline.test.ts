import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amount } from '../../../test/support/long.ts';
import { type CheckState, checkStates } from '../../kit/availability.ts';
import { daySeconds, maxChanges, Timeline, type TimelineSnapshot } from './timeline.ts';

const days = 250;
const midnight = 20_000 * daySeconds;
/** First second of the model, at noon. */
const first = midnight + daySeconds / 2;
const unknown = checkStates.indexOf('unknown');
const down = checkStates.indexOf('down');

/** State in each second, computed by brute force. */
class Model {
  readonly #codes = new Uint8Array(days * daySeconds).fill(unknown);
  now = first;
  state: CheckState = 'unknown';

  advance(seconds: number): void {
    const end = Math.min(this.now + seconds, first + this.#codes.length);
    this.#codes.fill(checkStates.indexOf(this.state), this.now - first, end - first);
    this.now = end;
  }

  setBack(second: number): void {
    this.#codes.fill(unknown, second - first, this.now - first);
    this.now = second;
  }

  count(from: number, until: number): number[] {
    const seconds = [0, 0, 0, 0];
    for (let at = from; at < until; at += 1) {
      const code = at < first ? unknown : (this.#codes[at - first] ?? unknown);
      seconds[code] = (seconds[code] ?? 0) + 1;
    }
    return seconds;
  }

  /** Counts outages and their seconds. */
  countOutages(from: number): { count: number; seconds: number } {
    let [count, seconds, before] = [0, 0, -1];
    for (let at = Math.max(from, first); at < this.now; at += 1) {
      const code = this.#codes[at - first] ?? unknown;
      if (code === down) seconds += 1;
      if (code === down && before !== down) count += 1;
      before = code;
    }
    return { count, seconds };
  }
}

const state = fc.constantFrom(...checkStates);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 4 * daySeconds }), state }) },
  { weight: 4, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 3000 }), state }) },
  {
    weight: 1,
    arbitrary: fc.record({
      flap: fc.integer({ min: 1, max: 3 * maxChanges }),
      every: fc.integer({ min: 1, max: 2000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ back: fc.integer({ min: 1, max: daySeconds }) }) },
  { weight: 1, arbitrary: fc.constant('restore' as const) },
);

/** Copies a timeline through its snapshot form. */
const copy = (timeline: Timeline): Timeline =>
  Timeline.restore(JSON.parse(JSON.stringify(timeline.save())) as TimelineSnapshot);

const play = (steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) => {
  const model = new Model();
  let timeline = new Timeline();
  const change = (next: CheckState): void => {
    timeline.change(next, model.now);
    model.state = next;
  };
  for (const each of steps) {
    if (each === 'restore') timeline = copy(timeline);
    else if ('flap' in each) {
      for (let index = 0; index < each.flap; index += 1) {
        change(index % 2 === 0 ? 'down' : 'up');
        model.advance(each.every);
      }
    } else if ('back' in each) {
      const at = Math.max(model.now - each.back, first);
      timeline.cut(at);
      model.setBack(at);
    } else {
      change(each.state);
      model.advance(each.wait);
    }
  }
  return { model, timeline };
};

test('the seconds of any range match a model of every second, after any merging, conversion or restore', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), {
        minLength: 3,
        maxLength: 3,
      }),
      (steps, ranges) => {
        // If the clock is set back into merged intervals, they are divided in proportion.
        const has = (key: 'flap' | 'back') => steps.some((each) => each !== 'restore' && key in each);
        const canDivide = has('flap') && has('back');
        const { model, timeline } = play(steps);
        const assertCount = (from: number, until: number): void => {
          const { seconds, isExact } = timeline.count(from, until);
          assert.ok(isExact || canDivide);
          if (isExact) assert.deepEqual(seconds, model.count(from, until));
        };
        const span = model.now - first + 2 * daySeconds;
        const toSecond = (share: number): number => first - 2 * daySeconds + Math.round(share * span);
        for (const [one, other] of ranges) {
          const [from, until] = [toSecond(Math.min(one, other)), toSecond(Math.max(one, other))];
          const { seconds, isExact } = timeline.count(from, until);
          if (isExact) assert.deepEqual(seconds, model.count(from, until));
          assert.equal(
            seconds.reduce((sum, part) => sum + part, 0),
            until - from,
          );
        }
        assertCount(first, model.now);
        const today = Math.floor(model.now / daySeconds) * daySeconds;
        for (const [one] of ranges) {
          const day = Math.floor(toSecond(one) / daySeconds) * daySeconds;
          const end = Math.min(day + daySeconds, Math.max(model.now, today));
          if (end > day) assertCount(day, end);
        }
      },
    ),
    { numRuns: amount(60, 1000) },
  );
});

test('outages of exact days match the number and seconds of a model, also when outages are merged', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      // A clock that is set back can join two outages of the model.
      const { model, timeline } = play(steps.filter((each) => each === 'restore' || !('back' in each)));
      const exactFrom = (Math.floor(model.now / daySeconds) - 90) * daySeconds;
      const outages = timeline.listOutages(exactFrom, model.now);
      const inside = outages.filter(({ start }) => start >= exactFrom);
      const { count } = model.countOutages(exactFrom);
      const begun = outages.length - inside.length;
      assert.equal(inside.reduce((sum, outage) => sum + outage.count, 0) + begun, count);
      const shares = outages.map(({ start, end = model.now, seconds }) =>
        start >= exactFrom ? seconds : end - exactFrom,
      );
      assert.equal(
        shares.reduce((sum, seconds) => sum + seconds, 0),
        model.countOutages(exactFrom).seconds,
      );
    }),
    { numRuns: amount(60, 1000) },
  );
});

test('a check that changes constantly for a year takes little memory, and its totals stay exact', () => {
  const timeline = new Timeline();
  const year = 365 * daySeconds;
  for (let second = 0; second < year; second += 60) {
    timeline.change('down', midnight + second, { cause: 'x'.repeat(200), incident: second });
    timeline.change('up', midnight + second + 1);
  }
  const { seconds, isExact } = timeline.count(midnight, midnight + year);
  assert.deepEqual([seconds[down], isExact], [365 * 24 * 60, true]);
  assert.ok(JSON.stringify(timeline.save()).length < 150_000);
});

test('an event before the last change counts from the last change on', () => {
  const timeline = new Timeline();
  timeline.change('up', 1000);
  timeline.change('down', 2000);
  timeline.change('up', 1500);
  assert.deepEqual(timeline.count(1000, 3000).seconds, [2000, 0, 0, 0]);
  timeline.change('down', 2500);
  assert.deepEqual(
    timeline.listOutages(0, 3000).map(({ start, end }) => [start, end]),
    [[2500, undefined]],
  );
});

test('an outage that has just begun is listed', () => {
  const timeline = new Timeline();
  timeline.change('down', 1000, { cause: 'no answer', incident: null });
  assert.deepEqual(timeline.listOutages(0, 1000), [
    { start: 1000, end: undefined, seconds: 0, count: 1, cause: 'no answer', incident: null },
  ]);
});

test('days of ten years are remembered', () => {
  const timeline = new Timeline();
  timeline.change('up', midnight);
  for (let year = 1; year <= 12; year += 1) {
    timeline.change('down', midnight + year * 365 * daySeconds);
    timeline.change('up', midnight + year * 365 * daySeconds + 100);
  }
  const now = midnight + (12 * 365 + 1) * daySeconds;
  const decade = 3650 * daySeconds;
  assert.deepEqual(timeline.count(now - decade, now).seconds, [decade - 1000, 1000, 0, 0]);
  assert.ok((timeline.count(midnight, now).seconds[unknown] ?? 0) > 600 * daySeconds);
});

test('seconds are estimated on a day on which the clock was set back into merged changes, also after years', () => {
  const timeline = new Timeline();
  for (let index = 0; index < 2 * maxChanges; index += 1) timeline.change(index % 2 ? 'up' : 'down', midnight + index);
  timeline.cut(midnight + maxChanges + 10);
  timeline.change('down', midnight + 2 * daySeconds);
  const isExact = (): boolean => timeline.count(midnight, midnight + daySeconds).isExact;
  assert.equal(isExact(), false);
  timeline.change('up', midnight + 300 * daySeconds);
  assert.equal(isExact(), false);
  assert.equal(copy(timeline).count(midnight, midnight + daySeconds).isExact, false);
  assert.equal(timeline.count(midnight + daySeconds, midnight + 2 * daySeconds).isExact, true);
});
