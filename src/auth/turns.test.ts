import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BusyError, createTurns } from './turns.ts';

/** Tasks that last until they are told to end, and the order in which they began. */
const createTasks = () => {
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const start = (id: number) => () =>
    new Promise<number>((resolve) => {
      begun.push(id);
      ends.set(id, () => resolve(id));
    });
  return { begun, start, end: (id: number) => ends.get(id)?.() };
};

test('so many run at a time, the next wait in line, and one more is refused', async () => {
  const { begun, start, end } = createTasks();
  const inTurn = createTurns({ running: 2, waiting: 1 });
  const results = [0, 1, 2].map((id) => inTurn(start(id)));
  await assert.rejects(inTurn(start(3)), BusyError);
  assert.deepEqual(begun, [0, 1]);
  end(1);
  await results[1];
  end(0);
  assert.equal(await results[0], 0);
  assert.deepEqual(begun, [0, 1, 2]);
  end(2);
  assert.equal(await results[2], 2);
  assert.equal(await inTurn(async () => 'free'), 'free');
});

test('a task that fails gives its turn to the next', async () => {
  const inTurn = createTurns({ running: 1, waiting: 1 });
  const failing = inTurn(() => Promise.reject(new Error('no')));
  const next = inTurn(async () => 'next');
  await assert.rejects(failing, /^Error: no$/);
  assert.equal(await next, 'next');
});
