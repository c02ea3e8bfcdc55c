import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredRecord } from '../../storage/journal/line.ts';
import { confirmationMs, type PageEvent, PagesFold } from './fold.ts';

test('damaged entries of a snapshot are reported and dropped, and numbers continue', () => {
  const update = { number: 3, at: 1, state: 'identified', text: 'x', by: 'admin' };
  const announcement = {
    id: 'a',
    page: 'main',
    incident: { id: 'i', number: 1 },
    title: 'Slow',
    state: 'identified',
    updates: [update],
  };
  const subscriber = { id: 's', page: 'main', address: 'anna@example.org', at: 1, through: 3 };
  const damages: string[] = [];
  const fold = new PagesFold((damage) => damages.push(damage));
  const damaged = [
    null,
    7,
    { lastNumber: 'x' },
    { ...announcement, updates: null },
    { ...announcement, updates: [] },
    { ...announcement, updates: [{ ...update, at: 1e99 }] },
    { ...announcement, state: 'open' },
    { ...subscriber, address: undefined },
    { ...subscriber, through: null },
  ];
  const departure = { left: 'aGFzaA', at: 5 };
  for (const entry of [...damaged, announcement, subscriber, departure]) fold.restore(entry);
  assert.equal(damages.length, damaged.length);
  assert.deepEqual(fold.listAnnouncements(), [announcement]);
  assert.deepEqual(fold.listSubscribers(), [subscriber]);
  assert.deepEqual([...fold.save()].flat(), [{ lastNumber: 3 }, announcement, subscriber, departure]);
});

/** Creates a fold, and a function that folds an event in the order of the log. */
const startFold = () => {
  const fold = new PagesFold((damage) => assert.fail(damage));
  return { fold, append: (event: PageEvent) => fold.fold(event as unknown as StoredRecord) };
};

const subscribed = (id: string, askedAt: number, at: number, page = 'main'): PageEvent => ({
  type: 'subscribed',
  subscriber: { id, page, address: 'anna@example.org', at },
  askedAt,
  at,
});

test('a confirmation that follows a departure in the log subscribes nobody, whatever the clocks of the instances say', () => {
  const { fold, append } = startFold();
  append(subscribed('a', 100, 110));
  append({ type: 'unsubscribed', subscriber: 'a', at: 120 });
  assert.equal(append(subscribed('b', 100, 119)), 'left');
  assert.deepEqual(fold.listSubscribers(), []);
  append(subscribed('c', 130, 140));
  // The clock of the instance that receives the departure is slow.
  append({ type: 'unsubscribed', subscriber: 'c', at: 125 });
  assert.equal(append(subscribed('d', 130, 141)), 'left');
  append(subscribed('e', 142, 143));
  assert.deepEqual(
    fold.listSubscribers().map(({ id }) => id),
    ['e'],
  );
});

test('a confirmation link from before the deletion of its page subscribes nobody to a new page of that name', () => {
  const { append } = startFold();
  append({ type: 'forgotten', page: 'main', at: 200 });
  assert.equal(append(subscribed('a', 100, 300)), 'left');
  assert.notEqual(append(subscribed('b', 100, 300, 'other')), 'left');
  assert.notEqual(append(subscribed('c', 201, 300)), 'left');
});

test('a link stays invalid after the deletion of its page by an instance whose clock is slow', () => {
  const { append } = startFold();
  append(subscribed('a', 200, 210));
  append({ type: 'forgotten', page: 'main', at: 150 });
  assert.equal(append(subscribed('b', 200, 300)), 'left');
  append({ type: 'forgotten', page: 'main', at: 140 });
  assert.equal(append(subscribed('c', 210, 300)), 'left');
});

test('departures are forgotten once the confirmation links from before them have expired', () => {
  const { fold, append } = startFold();
  append(subscribed('a', 100, 110));
  append({ type: 'unsubscribed', subscriber: 'a', at: 120 });
  append({ type: 'forgotten', page: 'other', at: 121 });
  assert.equal(fold.hasExpiredDepartures(119 + confirmationMs), false);
  assert.equal(fold.hasExpiredDepartures(120 + confirmationMs), true);
  append({ type: 'expired', at: 120 + confirmationMs });
  assert.deepEqual([...fold.save()].flat().length, 2);
  append({ type: 'expired', at: 121 + confirmationMs });
  assert.deepEqual([...fold.save()].flat(), [{ lastNumber: 0 }]);
});
