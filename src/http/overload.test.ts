import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createBareServer } from '../../test/support/server.ts';
import { createLagProbe, createQueue } from './overload.ts';

/** Blocks the event loop for a number of milliseconds. */
const block = (milliseconds: number): void => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

test('the event loop counts as lagging from when its timers are overdue by the limit until they have run', async (t) => {
  const app = createBareServer();
  t.after(() => app.close());
  const isLagging = createLagProbe(app.server, 50);
  const isNever = createLagProbe(app.server, 0);
  block(200);
  // Nothing is measured before the first request.
  assert.equal(isLagging(), false);
  block(200);
  assert.deepEqual([isLagging(), isNever()], [true, false]);
  const deadline = performance.now() + 10_000;
  while (isLagging() && performance.now() < deadline) await setImmediate();
  assert.equal(isLagging(), false);
});

const refusal = 'try again later';

/** Creates tasks that run until the test ends them, and records the order in which they started. */
const createTasks = () => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const start = (id: number) => () =>
    new Promise<number>((resolve) => {
      begun.push(id);
      ends[id] = () => resolve(id);
    });
  return { begun, start, end: (id: number) => ends[id]?.() };
};

test('the queue runs up to its limit, lets the next tasks wait in order, and refuses more with 503', async () => {
  const { begun, start, end } = createTasks();
  const queue = createQueue({ running: 2, waiting: 2, refusal });
  const results = [0, 1, 2, 3].map((id) => queue.run(start(id)));
  await assert.rejects(queue.run(start(4)), {
    status: 503,
    message: refusal,
    headers: { 'retry-after': '1' },
  });
  assert.deepEqual(begun, [0, 1]);
  end(1);
  assert.equal(await results[1], 1);
  assert.deepEqual(begun, [0, 1, 2]);
  for (const id of [0, 2]) end(id);
  await Promise.all([results[0], results[2]]);
  end(3);
  assert.equal(await results[3], 3);
  assert.deepEqual(begun, [0, 1, 2, 3]);
  assert.equal(await queue.run(async () => 'free'), 'free');
});

test('a task that fails frees its place for the next', async () => {
  const queue = createQueue({ running: 1, waiting: 1, refusal });
  const failing = queue.run(() => Promise.reject(new Error('no')));
  const next = queue.run(async () => 'next');
  await assert.rejects(failing, /^Error: no$/);
  assert.equal(await next, 'next');
});

test('an aborted task leaves the queue and never runs', async () => {
  const { begun, start, end } = createTasks();
  const queue = createQueue({ running: 1, waiting: 1, refusal });
  const first = queue.run(start(0));
  const impatient = new AbortController();
  const second = queue.run(start(1), impatient.signal);
  impatient.abort(new Error('gone'));
  await assert.rejects(second, /^Error: gone$/);
  await assert.rejects(queue.run(start(2), impatient.signal), /^Error: gone$/);
  const third = queue.run(start(3));
  end(0);
  await first;
  end(3);
  await third;
  assert.deepEqual(begun, [0, 3]);
});
