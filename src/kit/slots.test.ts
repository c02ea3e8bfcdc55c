import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Slots } from './slots.ts';

test('a limited number of steps runs at a time, and each step runs once', async () => {
  const slots = new Slots(3);
  let [running, max, count] = [0, 0, 0];
  const step = async (): Promise<void> => {
    running += 1;
    max = Math.max(max, running);
    await new Promise(setImmediate);
    running -= 1;
    count += 1;
  };
  await Promise.all(Array.from({ length: 50 }, () => slots.run(step)));
  assert.deepEqual([max, count, running], [3, 50, 0]);
  await assert.rejects(
    slots.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  await slots.run(step);
});

test('steps that hang give their slots to others, up to a limit', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const slots = new Slots(2);
  const ends: (() => void)[] = [];
  const hang = () => new Promise<void>((resolve) => ends.push(resolve));
  const runs = Array.from({ length: 21 }, () => slots.run(hang));
  for (let begun = 2; begun <= 20; begun += 2) {
    await new Promise(setImmediate);
    assert.equal(ends.length, begun);
    t.mock.timers.tick(1000);
  }
  await new Promise(setImmediate);
  assert.equal(ends.length, 20);
  for (const end of ends.splice(0)) end();
  await new Promise(setImmediate);
  for (const end of ends.splice(0)) end();
  await Promise.all(runs);
});
