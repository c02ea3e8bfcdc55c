import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createGathering } from './scheduling.ts';

test('gathering waits for as many requests as there were last time, for a millisecond', async () => {
  let count = 8;
  const gather = createGathering(() => count);
  await gather();
  count = 7;
  const begun = performance.now();
  await gather();
  assert.ok(performance.now() - begun >= 1);
});

test('a few requests do not wait for each other', async () => {
  let count = 7;
  const gather = createGathering(() => count);
  await gather();
  count = 1;
  let turns = 0;
  const gathered = gather().then(() => turns);
  for (; turns < 3; turns += 1) await setImmediate();
  assert.ok((await gathered) < 3);
});
