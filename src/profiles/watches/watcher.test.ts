import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { waitUntil } from '../../../test/support/wait.ts';
import { createHostReadings } from '../../host/index.ts';
import { ownLease } from '../../storage/postgres/lease.ts';
import type { AlertSource } from '../offers.ts';
import { createTargets } from '../targets.ts';
import { toKnownWatch } from './definitions.ts';
import type { WatchSettings } from './schema.ts';
import { Watcher } from './watcher.ts';

/** Never reached, and always. */
const [never, always] = [101, 0].map((limit) => ({ name: 'memory', type: 'memory', limit }) as WatchSettings);
assert.ok(never && always);

/** A watcher of this machine whose alerts are stored when the test says so. */
const createWorld = (t: { after(step: () => unknown): void }, raisedBefore: readonly string[] = []) => {
  const host = createHostReadings();
  t.after(() => host.close());
  const stored: string[] = [];
  const waiting: (() => void)[] = [];
  const raise: AlertSource['raise'] = async ({ status, message, resolves = '' }) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    stored.push([status, message.replace(/ is .*/, ''), resolves].filter(Boolean).join(' | '));
    return { id: `id-${stored.length}` };
  };
  const watcher = new Watcher({
    ...{
      host,
      clock: () => new Date(),
      journal: undefined,
      incidents: undefined,
      history: undefined,
      targets: createTargets([]),
    },
    ...{ findConcerns: async () => [], readDataSpace: async () => ({ used: 0, available: 1 }) },
    alerts: {
      raise,
      listRaised: async () => new Map(raisedBefore.map((about) => [about, { id: 'before', level: 'WARNING' }])),
    },
    leases: { machine: ownLease, network: ownLease, instance: ownLease },
    where: { machine: 'db-1', network: '', instance: '.a' },
    log: pino({ level: 'silent' }),
  });
  const tick = () => watcher.tick();
  /** Ticks until so many alerts wait to be stored, and stores them. */
  const store = async (count: number): Promise<void> => {
    await waitUntil('an alert waits', () => {
      tick();
      return waiting.length >= count;
    });
    for (const resolve of waiting.splice(0)) resolve();
    await new Promise(setImmediate);
  };
  const set = (...watches: WatchSettings[]): void => watcher.set(watches.map((one) => toKnownWatch(one, 'made')));
  return { watcher, stored, set, store, tick, waiting };
};

test('an alert that is being stored while its watch changes, or ends, is resolved', async (t) => {
  for (const next of [[{ ...never, every: 1 }], []]) {
    const { stored, set, store, tick, waiting } = createWorld(t);
    set(always);
    await waitUntil('an alert waits', () => {
      tick();
      return waiting.length > 0;
    });
    set(...next);
    await store(1);
    await store(1);
    assert.equal(stored.length, 2);
    assert.match(String(stored[1]), /^resolved \| Resolved: .* \| id-1$/);
  }
});

test('what fired before the start is resolved once, also if its watch is made again', async (t) => {
  const { stored, set, store, tick, watcher, waiting } = createWorld(t, ['memory/db-1/memory']);
  set(never);
  await store(1);
  assert.match(String(stored[0]), /^resolved .* \| before$/);
  set();
  tick();
  set(never);
  await waitUntil('it is checked again', () => {
    tick();
    return watcher.find('memory').isChecked;
  });
  await new Promise(setImmediate);
  assert.deepEqual([stored.length, waiting.length], [1, 0]);
});

test('what fires of watches that there are no more is resolved, also if there is none at all', async (t) => {
  const { stored, set, store } = createWorld(t, ['gone/db-1/x', 'other/db-2/x']);
  set();
  await store(1);
  assert.deepEqual(stored, ['resolved | Resolved: gone | before']);
});
