import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SharedIncident } from '../../../kit/offers.ts';
import { NoticeQueue } from './collector.ts';

const plan = { dueAt: 0, happenedAt: 0 } as Parameters<NoticeQueue['put']>[1];

const toIncident = (id: string, level = 'ERROR'): SharedIncident => ({ id, level, state: 'open' }) as SharedIncident;

/** A queue with so many incidents that are due, each for a message of its own. */
const createQueue = (count: number): NoticeQueue => {
  const queue = new NoticeQueue(0);
  for (let index = 0; index < count; index += 1) queue.put(toIncident(`${index}`), plan);
  queue.group(1);
  return queue;
};

/** Takes all messages that are ready, while more are made of what is due. */
const takeAll = (
  queue: NoticeQueue,
  use: (id: string, bundle: NonNullable<ReturnType<NoticeQueue['take']>>) => void,
) => {
  for (;;) {
    queue.group(1);
    const bundle = queue.take();
    if (!bundle) return;
    for (const id of bundle.ids) use(id, bundle);
  }
};

test('every incident gets its message in the order of time, however many wait', () => {
  const queue = createQueue(350);
  assert.equal(queue.size, 350);
  assert.equal(queue.waitingSince(1), 0);
  const taken: string[] = [];
  takeAll(queue, (id, bundle) => {
    taken.push(id);
    queue.drop(bundle);
  });
  assert.deepEqual(
    taken,
    Array.from({ length: 350 }, (_, index) => `${index}`),
  );
  assert.deepEqual([queue.size, queue.waitingSince(1)], [0, undefined]);
});

test('messages that wait for another attempt, or for their note, hold up no others', () => {
  const queue = createQueue(350);
  const taken: string[] = [];
  takeAll(queue, (id, bundle) => {
    taken.push(id);
    if (Number(id) % 2 === 0) return;
    bundle.waiting.dueAt = Number.POSITIVE_INFINITY;
    queue.wait(bundle);
  });
  assert.equal(taken.length, 350);
});

test('an incident that waits is known, can be withdrawn or sent alone, and goes first once it is critical', () => {
  const queue = createQueue(350);
  assert.ok(queue.has('349') && queue.listIds(1000).includes('349'));
  assert.equal(queue.put(toIncident('349'), plan), false);
  queue.withdraw('349');
  assert.equal(queue.has('349'), false);
  queue.drop(queue.takeAlone('348', 1));
  assert.equal(queue.put(toIncident('347', 'CRITICAL'), plan), true);
  const taken: string[] = [];
  takeAll(queue, (id, bundle) => {
    taken.push(id);
    queue.drop(bundle);
  });
  assert.deepEqual([taken.length, taken[0]], [348, '347']);
});
