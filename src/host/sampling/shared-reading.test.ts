import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { createSharedReading } from './shared-reading.ts';

test('concurrent callers share one reading even if no age is allowed', async () => {
  let reads = 0;
  const read = createSharedReading(async () => ++reads, 0);
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  assert.equal(await read(), 2);
});

test('a reading is shared until it exceeds the allowed age', async () => {
  let reads = 0;
  const read = createSharedReading(async () => ++reads, 50);
  assert.equal(await read(), 1);
  assert.equal(await read(), 1);
  await waitUntilPasses(async () => assert.equal(await read(), 2));
});

test('a failed reading rejects for all callers that wait for it, and is not kept', async () => {
  let reads = 0;
  const read = createSharedReading(async () => {
    reads += 1;
    if (reads === 1) throw new Error('no luck');
    return reads;
  }, 60_000);
  const [first, second] = await Promise.allSettled([read(), read()]);
  assert.equal(first.status, 'rejected');
  assert.equal(second.status, 'rejected');
  assert.equal(await read(), 2);
});
