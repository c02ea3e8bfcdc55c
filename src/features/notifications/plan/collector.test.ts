import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SharedIncident } from '../../../kit/incident.ts';
import { Collector } from './collector.ts';

const plan = { dueAt: 0, happenedAt: 0 } as Parameters<Collector['put']>[1];

const toIncident = (id: string, level = 'ERROR'): SharedIncident => ({ id, level, state: 'open' }) as SharedIncident;

/** Creates a collector with `count` due incidents. Each incident gets its own message. */
const create = (count: number): Collector => {
  const collector = new Collector(0);
  for (let index = 0; index < count; index += 1) collector.put(toIncident(`${index}`), plan);
  return collector;
};

/** Takes all incidents, a few at a time. */
const takeAll = (collector: Collector): string[] => {
  const taken: string[] = [];
  for (;;) {
    const groups = collector.take(1, { isIdle: true });
    if (groups.length === 0) return taken;
    assert.ok(groups.length <= 100);
    taken.push(...groups.flatMap(({ ids }) => ids));
  }
};

test('every incident gets its message in the order of time, however many wait', () => {
  const collector = create(350);
  assert.equal(collector.size, 350);
  assert.equal(collector.waitingSince(1), 0);
  assert.deepEqual(
    takeAll(collector),
    Array.from({ length: 350 }, (_, index) => `${index}`),
  );
  assert.deepEqual([collector.size, collector.waitingSince(1)], [0, undefined]);
});

test('no further messages are created while a message is ready', () => {
  const collector = create(350);
  assert.equal(collector.take(1, { isIdle: false }).length, 0);
  assert.equal(collector.take(1, { isIdle: true }).length, 100);
  assert.equal(collector.size, 250);
});

test('a waiting incident can be found and removed, and a critical one comes first and immediately', () => {
  const collector = create(350);
  collector.take(1, { isIdle: false });
  assert.ok(collector.has('349') && [...collector.ids()].includes('349'));
  assert.equal(collector.put(toIncident('349'), plan), false);
  assert.deepEqual(collector.remove('349'), { ids: ['349'], since: 0, isCritical: false });
  assert.equal(collector.has('349'), false);
  assert.equal(collector.put(toIncident('347', 'CRITICAL'), plan), true);
  assert.deepEqual(collector.take(1, { isIdle: false }), [{ ids: ['347'], since: 0, isCritical: true }]);
  assert.equal(takeAll(collector).length, 348);
});

test('incidents due a little later join a due message, up to 500 in a message', () => {
  const collector = new Collector(10);
  for (let index = 0; index < 501; index += 1) collector.put(toIncident(`${index}`), { ...plan, dueAt: 10 + index });
  assert.deepEqual([collector.take(9, { isIdle: true }), collector.untilDue(4)], [[], 6]);
  const groups = collector.take(10, { isIdle: false });
  assert.deepEqual(
    groups.map(({ ids }) => ids.length),
    [500, 1],
  );
});
