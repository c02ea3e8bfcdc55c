import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilPasses } from '../../../test/support/wait.ts';
import { createHangGuard } from './hang-guard.ts';

const enough = 10_000;

test('reads run one at a time', async () => {
  const guard = createHangGuard();
  let running = 0;
  const read = async (): Promise<string> => {
    running += 1;
    assert.equal(running, 1);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return 'read';
  };
  const results = await Promise.all([guard(read, enough), guard(read, enough), guard(read, enough)]);
  assert.deepEqual(results, ['read', 'read', 'read']);
});

test('while one read hangs no other one starts, and all return null until it has ended', async () => {
  const guard = createHangGuard();
  let reads = 0;
  let comeBack: (text: string) => void = () => {};
  const answer = new Promise<string>((resolve) => {
    comeBack = resolve;
  });
  const ask = (): Promise<string | null> =>
    guard(() => {
      reads += 1;
      return answer;
    }, 20);
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [null, null, null]);
  assert.equal(reads, 1);
  comeBack('back');
  await waitUntilPasses(async () => assert.equal(await ask(), 'back'));
});

test('a read that fails rejects for its own caller only', async () => {
  const guard = createHangGuard();
  const failed = guard(() => Promise.reject(new Error('no such file')), enough);
  const next = guard(async () => 'read', enough);
  await assert.rejects(failed, /no such file/);
  assert.equal(await next, 'read');
});
