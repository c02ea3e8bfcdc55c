import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { SharedAction } from '../../../kit/incident-source.ts';
import { ActionQueue } from './action-queue.ts';

test('the results of messages are stored before thousands of waiting steps, so that a kill repeats few messages', async () => {
  const stored: string[] = [];
  const queue = new ActionQueue({
    act: async ({ type }) => {
      await setImmediate();
      stored.push(type);
      return undefined;
    },
    onStored: () => undefined,
    onAttempted: () => undefined,
  });
  for (let index = 0; index < 10_000; index += 1) queue.addOnce(toAction('escalate', index));
  await queue.add(toAction('notify', 1));
  // The first batch was being stored already.
  assert.ok(stored.length <= 1000, `${stored.length} actions`);
  queue.close();
});

test('a result of a message is stored after an earlier removal of the notifications of its incident', async () => {
  const stored: string[] = [];
  const queue = new ActionQueue({
    act: async ({ type }) => {
      stored.push(type);
      return undefined;
    },
    onStored: () => undefined,
    onAttempted: () => undefined,
  });
  for (let index = 0; index < 1000; index += 1) queue.addOnce(toAction('escalate', index));
  queue.addOnce(toAction('forget', 1));
  await queue.add(toAction('notify', 1));
  assert.deepEqual(
    stored.filter((type) => type !== 'escalate'),
    ['forget', 'notify'],
  );
  queue.close();
});

const toAction = (type: 'escalate' | 'forget' | 'notify', index: number): SharedAction =>
  ({ type, id: `${index}`, by: 'signalbox' }) as SharedAction;
