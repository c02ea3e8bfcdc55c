import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecentFigures } from './recent-figures.ts';

const toFigures = (recent: RecentFigures): number[] => recent.list().steps.map(({ figure }) => figure);

test('a step has the worst figure of its checks: the highest, or the lowest where less is worse', () => {
  for (const [isLowBad, worst] of [
    [false, 7],
    [true, 3],
  ] as const) {
    const recent = new RecentFigures(1000, isLowBad);
    for (const figure of [5, 7, 3]) recent.add(30_000 + figure, { figure, isBad: false });
    assert.deepEqual(toFigures(recent), [worst]);
  }
});

test('what could not be checked, and when nothing was, is unknown', () => {
  const recent = new RecentFigures(10_000, false);
  recent.add(0, { figure: 1, isBad: false });
  recent.add(15_000, {});
  recent.add(45_000, { isBad: true });
  assert.deepEqual(recent.list(), {
    ...{ start: 0, stepMs: 15_000 },
    steps: [
      { figure: 1, isBad: false },
      { figure: Number.NaN, isBad: undefined },
      { figure: Number.NaN, isBad: undefined },
      { figure: Number.NaN, isBad: true },
    ],
  });
});

test('a watch that is checked once a day has a step for each of its checks', () => {
  const day = 86_400_000;
  const recent = new RecentFigures(day, false);
  for (let index = 0; index < 400; index += 1) recent.add(index * day, { figure: index, isBad: false });
  const { stepMs, steps } = recent.list();
  assert.ok(stepMs > day && steps.length === 120 && steps.every(({ figure }) => !Number.isNaN(figure)));
});

test('however checks come, at most 120 steps are kept, the last one is the last check, and no kept figure is lost', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 400 });
  fc.assert(
    fc.property(gaps, fc.boolean(), (waits, isLowBad) => {
      const recent = new RecentFigures(10_000, isLowBad);
      const added: { at: number; figure: number }[] = [];
      let at = 0;
      for (const [index, wait] of waits.entries()) {
        at += wait;
        const figure = (index * 7919) % 1000;
        added.push({ at, figure });
        recent.add(at, { figure, isBad: false });
      }
      const { start, stepMs, steps } = recent.list();
      const worst = isLowBad ? Math.min : Math.max;
      const expected = steps.map((_, index) => {
        const from = start + index * stepMs;
        const within = added.filter((each) => each.at >= from && each.at < from + stepMs);
        return within.length === 0 ? Number.NaN : worst(...within.map(({ figure }) => figure));
      });
      assert.ok(steps.length <= 120 && stepMs <= 240_000);
      assert.equal(Math.floor(at / stepMs), start / stepMs + steps.length - 1);
      // The oldest step may have lost some of its checks.
      assert.deepEqual(steps.map(({ figure }) => figure).slice(1), expected.slice(1));
    }),
  );
});
