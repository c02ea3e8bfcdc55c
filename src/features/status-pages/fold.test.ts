import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagesFold } from './fold.ts';

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
