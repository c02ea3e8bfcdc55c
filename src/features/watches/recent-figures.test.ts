import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecentFigures } from './recent-figures.ts';

test('a step has the worst figure of its checks: the highest, or the lowest if less is worse', () => {
  for (const [isLowBad, worst] of [
    [false, 7],
    [true, 3],
  ] as const) {
    const recent = new RecentFigures(1000, isLowBad);
    for (const figure of [5, 7, 3]) recent.add(30_000 + figure, { figure, isBad: figure === 5 });
    const { figures, bad } = recent.list();
    assert.deepEqual([figures, bad], [[worst], [true]]);
  }
});

test('steps with a failed check, and steps without a check, are unknown', () => {
  const recent = new RecentFigures(10_000, false);
  recent.add(0, { figure: 1, isBad: false });
  recent.add(15_000, {});
  recent.add(45_000, { isBad: true });
  assert.deepEqual(recent.list(), {
    start: 0,
    stepMs: 15_000,
    figures: [1, null, null, null],
    bad: [false, null, null, true],
  });
});

test('a watch that is checked once a day has a step for each of its checks', () => {
  const day = 86_400_000;
  const recent = new RecentFigures(day, false);
  for (let index = 0; index < 400; index += 1) recent.add(index * day, { figure: index, isBad: false });
  const { stepMs, figures } = recent.list();
  assert.ok(stepMs > day && figures.length === 120 && !figures.includes(null));
});

test('after checks at any times, at most 120 steps are kept, the last step has the last check, and no kept figure is lost', () => {
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
        recent.add(at, { figure, isBad: figure > 900 });
      }
      const { start, stepMs, figures, bad } = recent.list();
      const worst = isLowBad ? Math.min : Math.max;
      const listIn = (index: number): number[] => {
        const from = start + index * stepMs;
        return added.filter((each) => each.at >= from && each.at < from + stepMs).map(({ figure }) => figure);
      };
      const expected = figures.map((_, index) => (listIn(index).length === 0 ? null : worst(...listIn(index))));
      const expectedBad = bad.map((_, index) =>
        listIn(index).length === 0 ? null : listIn(index).some((figure) => figure > 900),
      );
      assert.ok(figures.length <= 120 && figures.length === bad.length && stepMs <= 240_000);
      assert.equal(Math.floor(at / stepMs), start / stepMs + figures.length - 1);
      // The oldest step may have lost some of its checks.
      assert.deepEqual([figures.slice(1), bad.slice(1)], [expected.slice(1), expectedBad.slice(1)]);
    }),
  );
});
