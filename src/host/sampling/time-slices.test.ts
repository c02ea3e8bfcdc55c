import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapInSlices } from './time-slices.ts';

const keepBusy = (milliseconds: number): void => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

test('results keep the order of the items, without nulls', async () => {
  assert.deepEqual(await mapInSlices([1, 2, 3, 4], (item) => (item % 2 ? item * 10 : null)), [10, 30]);
});

test('other work runs while a long list is mapped', async () => {
  let turns = 0;
  let done = false;
  const takeTurns = (): void => {
    turns += 1;
    if (!done) setImmediate(takeTurns);
  };
  setImmediate(takeTurns);
  await mapInSlices(Array.from({ length: 20 }), () => keepBusy(1));
  done = true;
  assert.ok(turns >= 15, `${turns} turns`);
});
