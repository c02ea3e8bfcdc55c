import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import Fastify from 'fastify';
import { createLagProbe } from './overload.ts';

/** Blocks the event loop. */
const block = (milliseconds: number): void => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

test('the event loop counts as lagging from when its timers are overdue by the limit until they have run', async (t) => {
  const app = Fastify();
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
