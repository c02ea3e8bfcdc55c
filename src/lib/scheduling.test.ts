import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { InTurn } from './scheduling.ts';

test('steps with a common key run one after the other, and other steps simultaneously', async () => {
  const inTurn = new InTurn();
  const order: string[] = [];
  const run = (name: string, keys: string[]) =>
    inTurn.run(keys, async () => {
      order.push(`${name} begins`);
      await setImmediate();
      order.push(`${name} ends`);
    });
  const all = [run('ab', ['a', 'b']), run('b', ['b']), run('c', ['c']), run('ac', ['a', 'c'])];
  assert.deepEqual(order, ['ab begins', 'c begins']);
  await Promise.all(all);
  assert.deepEqual(order.indexOf('b begins') > order.indexOf('ab ends'), true);
  assert.deepEqual(order.indexOf('ac begins') > order.indexOf('c ends'), true);
});

test('after a failed step the next step runs', async () => {
  const inTurn = new InTurn();
  const failed = inTurn.run(['a'], () => Promise.reject(new Error('no')));
  const thrown = inTurn.run(['a'], () => {
    throw new Error('not at all');
  });
  const next = inTurn.run(['a'], () => 7);
  await assert.rejects(failed, /^Error: no$/);
  await assert.rejects(thrown, /not at all/);
  assert.equal(await next, 7);
});
