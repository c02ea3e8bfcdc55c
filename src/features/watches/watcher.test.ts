import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { waitUntil } from '../../../test/support/wait.ts';
import { createHostReadings } from '../../host/index.ts';
import type { HostReadings } from '../../host/readings.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import { createReach } from '../../kit/reach.ts';
import { type Lease, ownLease } from '../../storage/postgres/lease.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { toKnownWatch } from './known-watch.ts';
import type { WatchSettings } from './schema.ts';
import { Watcher } from './watcher.ts';

/** Watch with a limit that is never reached, and watch with a limit that is always reached. */
const [never, always] = [101, 0].map((limit) => ({ name: 'memory', type: 'memory', limit }) as WatchSettings);
assert.ok(never && always);

interface Before {
  /** Fingerprints of firing alerts. */
  raised?: readonly string[];
  isShared?: boolean;
  memory?: HostReadings['memory'];
  timeoutMs?: number;
  network?: Lease;
  takeGone?: (place: string) => Promise<boolean>;
}

/** Creates a watcher of this machine whose alerts wait until the test stores them. */
const createWorld = (t: { after(step: () => unknown): void }, before: Before = {}) => {
  const { raised = [], isShared = false, timeoutMs, network = ownLease, takeGone } = before;
  const readings = createHostReadings();
  const host = { ...readings, memory: before.memory ?? readings.memory };
  t.after(() => host.close());
  const stored: string[] = [];
  const waiting: (() => void)[] = [];
  const labelled: unknown[] = [];
  const raise: AlertSource['raise'] = async ({ status, message, resolves = '', labels }) => {
    labelled.push(labels);
    await new Promise<void>((resolve) => waiting.push(resolve));
    stored.push([status, message.replace(/ is .*/, ''), resolves].filter(Boolean).join(' | '));
    return { id: `id-${stored.length}` };
  };
  const watcher = new Watcher({
    host,
    clock: () => new Date(),
    journal: {} as RecordLog,
    quietMsOf: async () => undefined,
    incidents: { catchUp: async () => undefined, listUnsettled: async () => [] },
    history: undefined,
    reach: createReach([]),
    findConcerns: async () => [],
    readDataSpace: async () => ({ used: 0, available: 1 }),
    alerts: {
      raise,
      listRaised: async () =>
        new Map(raised.map((about) => [about, { id: 'before', ids: ['before'], level: 'WARNING', isResolved: false }])),
    },
    leases: { machine: ownLease, network, instance: ownLease },
    places: { machine: 'db-1', network: '', instance: '.a' },
    isShared,
    takeGone,
    ...(timeoutMs && { timeoutMs }),
    log: pino({ level: 'silent' }),
  });
  const tick = () => watcher.tick();
  /** Ticks until `count` alerts wait, and stores them. */
  const store = async (count: number): Promise<void> => {
    await waitUntil('an alert waits', () => {
      tick();
      return waiting.length >= count;
    });
    for (const resolve of waiting.splice(0)) resolve();
    await new Promise(setImmediate);
  };
  const set = (...watches: WatchSettings[]): void => watcher.set(watches.map((one) => toKnownWatch(one, 'made')));
  return { watcher, stored, labelled, set, store, tick, waiting };
};

test('an alert that is being stored while its watch is changed or deleted is resolved', async (t) => {
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

test('an alert from before the start is resolved once, also if its watch is created again', async (t) => {
  const { stored, set, store, tick, watcher, waiting } = createWorld(t, { raised: ['memory/db-1/memory'] });
  set(never);
  await store(1);
  assert.match(String(stored[0]), /^resolved .* \| before$/);
  set();
  tick();
  set(never);
  await waitUntil('the watch is checked again', () => {
    tick();
    return watcher.find('memory').isChecked;
  });
  await new Promise(setImmediate);
  assert.deepEqual([stored.length, waiting.length], [1, 0]);
});

test('alerts of deleted watches are resolved, also without any watch', async (t) => {
  const { stored, set, store } = createWorld(t, { raised: ['gone/db-1/x', 'other/db-2/x'], isShared: true });
  set();
  await store(1);
  assert.deepEqual(stored, ['resolved | Resolved: gone | before']);
});

test('alerts of the former name of a machine are resolved, unless other instances share the alerts', async (t) => {
  const { stored, labelled, set, store } = createWorld(t, { raised: ['memory/old-name/memory'] });
  set(never);
  await store(1);
  assert.deepEqual(stored, ['resolved | Resolved: memory | before']);
  // Without labels, the incident keeps its labels.
  assert.deepEqual(labelled, [{}]);
});

test('alerts of a watch that changes its place are resolved', async (t) => {
  const { stored, set, store } = createWorld(t);
  set(always);
  await store(1);
  set({ name: 'memory', type: 'destination' });
  await store(1);
  assert.deepEqual(stored.slice(1), ['resolved | Resolved: memory | id-1']);
});

test('a check that does not end is reported after `for`', async (t) => {
  const { stored, set, store } = createWorld(t, { memory: () => new Promise(() => undefined), timeoutMs: 1 });
  set({ ...never, every: 1, for: 1 });
  await store(1);
  assert.match(String(stored[0]), /^firing \| Watch memory cannot run its check: no response/);
});

test('no place counts as gone until other instances could renew their leases after the database was away', async (t) => {
  const { now } = performance;
  let ahead = 0;
  t.mock.method(performance, 'now', () => now.call(performance) + ahead);
  let isHeld = true;
  const listeners: ((isHeld: boolean) => void)[] = [];
  const change = (next: boolean): void => {
    isHeld = next;
    for (const listener of listeners) listener(next);
  };
  const network: Lease = { ...ownLease, isHeld: () => isHeld, onChanged: (listener) => void listeners.push(listener) };
  const taken: string[] = [];
  const takeGone = async (place: string): Promise<boolean> => {
    taken.push(place);
    return false;
  };
  const { tick } = createWorld(t, { raised: ['memory/.b/x'], isShared: true, network, takeGone });
  const pass = async (seconds: number): Promise<number> => {
    ahead += seconds * 1000;
    tick();
    await new Promise(setImmediate);
    return taken.length;
  };
  assert.equal(await pass(21), 1);
  change(false);
  assert.equal(await pass(600), 1);
  change(true);
  assert.equal(await pass(1), 1);
  assert.equal(await pass(15), 1);
  assert.equal(await pass(10), 2);
  assert.deepEqual(taken, ['.b', '.b']);
});
