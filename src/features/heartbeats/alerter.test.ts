import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFolder } from '../../../test/support/folder.ts';
import { atEnd, type Scope } from '../../../test/support/scope.ts';
import type { AlertSource, RaisedSeries } from '../../kit/alert-source.ts';
import type { RuntimeSetting, SettingStore } from '../../kit/setting-store.ts';
import { toLocalMinute } from '../../lib/local-time.ts';
import { type Journal, openJournal } from '../../storage/journal/journal.ts';
import { createId } from '../../storage/journal/line.ts';
import { ownLease } from '../../storage/postgres/lease.ts';
import { createReplacedFile } from '../../storage/replaced-file.ts';
import { createSnapshotFile } from '../../storage/snapshot-file.ts';
import { HeartbeatAlerter } from './alerter.ts';
import type { HeartbeatDefinition } from './definition.ts';
import { HeartbeatKeeper } from './keeper.ts';
import { createLastAlive } from './last-alive.ts';
import type { Ping } from './records.ts';
import { HeartbeatStore } from './store.ts';

type Raised = Parameters<AlertSource['raise']>[0];

const log = { warn: () => undefined, error: () => undefined };

/** Creates settings that contain one setting. The test itself creates and deletes that setting. */
const createSettings = (name: string, value: HeartbeatDefinition & { uuid: string }) => {
  let version = 0;
  let current: RuntimeSetting[] = [];
  const listeners: (() => void)[] = [];
  const change = (next: RuntimeSetting[]): void => {
    current = next;
    for (const listener of listeners) listener();
  };
  const unused = () => Promise.reject(new Error('unused'));
  const settings: SettingStore = {
    list: <T>() => current as RuntimeSetting<T>[],
    find: <T>() => current[0] as RuntimeSetting<T> | undefined,
    put: unused,
    delete: unused,
    noteBroken: () => undefined,
    isRead: () => true,
    catchUp: async () => undefined,
    onChanged: (_kind, listener) => void listeners.push(listener),
  };
  const create = (at: number): void => {
    version += 1;
    change([{ name, value, version, by: 'anna', at, createdAt: at }]);
  };
  return { settings, create, remove: () => change([]) };
};

/** Creates a server with one heartbeat and a clock that the test controls. */
const createWorld = (t: Scope, definition: HeartbeatDefinition, begin = '2026-01-31T00:00:00Z', isRuntime = false) => {
  const directory = createFolder(t);
  let now = Date.parse(begin);
  const clock = (): Date => new Date(now);
  const raised: Raised[] = [];
  const ids: string[] = [];
  const series = new Map<string, RaisedSeries>();
  let isBehind = false;
  let isKilled = false;
  let isSaved = true;
  let broken: 'list' | 'find' | undefined;
  const name = 'job';
  const { settings, create, remove } = createSettings(name, { ...definition, uuid: randomUUID() });
  const keeper = new HeartbeatKeeper({
    settings,
    configured: isRuntime ? [] : [{ name, ...definition }],
    onUnusable: () => undefined,
  });
  const { list, find } = keeper;
  keeper.list = () => {
    if (broken === 'list') throw new Error('broken');
    return list.call(keeper);
  };
  keeper.find = (wanted) => {
    if (broken === 'find') throw new Error('broken');
    return find.call(keeper, wanted);
  };
  let life: { alerter: HeartbeatAlerter; store: HeartbeatStore; journal: Journal } | undefined;
  const open = async (): Promise<void> => {
    const journal = await openJournal({ directory, name: 'heartbeats', awaitsHold: true, recentCount: 100 });
    const file = createSnapshotFile(join(directory, 'heartbeats.state'));
    const writeUnlessLost: typeof file.write = async (seq, pieces) => {
      if (isSaved) await file.write(seq, pieces);
    };
    const alive = createLastAlive(createReplacedFile(directory, 'heartbeats.alive'));
    const snapshot = { size: 0, read: file.read, write: writeUnlessLost };
    const store = await HeartbeatStore.open({ log: journal, snapshot, report: log });
    const alerts: Pick<AlertSource, 'raise' | 'listRaised'> = {
      raise: async (alert) => {
        raised.push(alert);
        const id = createId(now);
        ids.push(id);
        const about = alert.fingerprint ?? '';
        const isResolved = alert.status !== 'firing';
        const known = isResolved ? (series.get(about)?.ids ?? []) : [id];
        if (!isBehind) series.set(about, { id, ids: known, level: alert.level, isResolved });
        if (isKilled) throw new Error('killed before the record');
        return { id };
      },
      listRaised: async () => series,
    };
    const alerter = new HeartbeatAlerter({
      store,
      alive,
      keeper,
      lease: ownLease,
      alerts,
      clock,
      log,
      patienceMs: 0,
    });
    life = { alerter, store, journal };
    alerter.start();
    await alerter.settle();
  };
  const close = async (): Promise<void> => {
    await life?.alerter.close();
    await life?.store.close();
    life = undefined;
  };
  atEnd(t, close);
  const status = (): string => {
    const known = keeper.find(name);
    assert.ok(known && life);
    return life.alerter.judge(known).status;
  };
  return {
    open,
    close,
    raised,
    ids,
    status,
    send: async (type: Ping['type']): Promise<void> => {
      await life?.store.append({ type, name, since: keeper.find(name)?.since ?? 0, at: now });
      await life?.alerter.settle();
    },
    create: async (): Promise<void> => {
      create(now);
      await life?.alerter.settle();
    },
    remove: async (): Promise<void> => {
      remove();
      await life?.alerter.settle();
    },
    /** Makes the server ignore snapshots from now on. */
    loseSnapshots: (): void => {
      isSaved = false;
    },
    /** Checks all heartbeats while the given method of the keeper fails. */
    checkBroken: async (what: 'list' | 'find'): Promise<void> => {
      broken = what;
      await life?.store.append({ type: 'outage', from: now, at: now });
      await life?.alerter.settle().finally(() => {
        broken = undefined;
      });
    },
    /** Makes the server ignore records from now on. Returns a function that counts the ignored records. */
    ignoreRecords: (): (() => number) => {
      let count = 0;
      assert.ok(life);
      life.store.append = async () => {
        count += 1;
      };
      return () => count;
    },
    countRecords: (): number => life?.journal.state().lastSeq ?? 0,
    /** Kills the server after it has stored an alert and before it has recorded that alert. */
    kill: (): void => {
      isKilled = true;
    },
    revive: (): void => {
      isKilled = false;
    },
    /** Makes alerts wait for a database instead of entering the log. */
    fallBehind: (): void => {
      isBehind = true;
    },
    /** Moves the clock in steps and makes the server check the clock after each step. */
    pass: async (seconds: number, stepSeconds = 30): Promise<void> => {
      for (const end = now + seconds * 1000; now < end; ) {
        now = Math.min(end, now + stepSeconds * 1000);
        await life?.alerter.look();
        await life?.alerter.settle();
      }
    },
    setClock: (seconds: number): void => {
      now += seconds * 1000;
    },
    messages: (): string[] => raised.map(({ status: how, message }) => `${how}: ${message}`),
  };
};

test('a late heartbeat raises one alert after its grace, and the next success resolves the alert', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600, level: 'CRITICAL' });
  await world.open();
  await world.send('success');
  await world.pass(4199);
  assert.deepEqual([world.status(), world.raised.length], ['late', 0]);
  await world.pass(7200);
  assert.equal(world.status(), 'down');
  await world.send('success');
  const [due, success] = ['2026-01-31T01:00:00Z', '2026-01-31T00:00:00Z'].map((at) => toLocalMinute(Date.parse(at)));
  assert.deepEqual(world.messages(), [
    `firing: Heartbeat job is late: due at ${due}, last success at ${success}`,
    'resolved: Heartbeat job is up again',
  ]);
  const [firing, resolved] = world.raised;
  assert.deepEqual([firing?.level, resolved?.resolves, resolved?.firingLevel], ['CRITICAL', world.ids[0], 'CRITICAL']);
});

test('a heartbeat that came due while the server was down gets another grace, and is down afterwards', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 });
  await world.open();
  await world.send('success');
  await world.pass(60);
  await world.close();
  world.setClock(20 * 3600);
  await world.open();
  assert.deepEqual([world.status(), world.raised.length], ['late', 0]);
  await world.pass(570);
  // A second restart keeps the grace unchanged.
  await world.close();
  await world.open();
  assert.deepEqual([world.status(), world.raised.length], ['late', 0]);
  await world.pass(40);
  assert.deepEqual([world.status(), world.raised.length], ['down', 1]);
});

test('an alert is raised once, also after restarts', async (t) => {
  const world = createWorld(t, { period: 60, grace: 10 });
  await world.open();
  await world.send('failure');
  assert.equal(world.raised.length, 1);
  await world.close();
  await world.open();
  await world.pass(600);
  assert.equal(world.raised.length, 1);
  await world.send('success');
  await world.close();
  await world.open();
  assert.equal(world.raised.length, 2);
});

test('an alert that was stored but not recorded before a kill is not raised again, and the next success resolves it', async (t) => {
  const { open, close, send, raised, kill, revive } = createWorld(t, { period: 3600 });
  await open();
  kill();
  await send('failure');
  assert.deepEqual(
    raised.map(({ status }) => status),
    ['firing'],
  );
  await close();
  revive();
  await open();
  assert.deepEqual(
    raised.map(({ status }) => status),
    ['firing'],
  );
  await send('success');
  assert.deepEqual(
    raised.map(({ status }) => status),
    ['firing', 'resolved'],
  );
});

test('a success before the record about an alert resolves the alert after the next start', async (t) => {
  const { open, close, send, raised, kill, revive } = createWorld(t, { period: 3600 });
  await open();
  kill();
  await send('failure');
  await send('success');
  await close();
  revive();
  await open();
  assert.deepEqual(
    raised.map(({ status }) => status),
    ['firing', 'resolved'],
  );
});

test('after a kill between a resolution and its record, the next start raises the alert of a failure at once', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 });
  await world.open();
  await world.send('failure');
  world.kill();
  await world.send('success');
  await world.send('failure');
  await world.close();
  world.revive();
  await world.open();
  assert.deepEqual(
    world.raised.map(({ status }) => status),
    ['firing', 'resolved', 'firing'],
  );
});

test('an alert that waits for the log is not raised again after the next start', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 });
  await world.open();
  await world.send('failure');
  await world.send('success');
  world.fallBehind();
  await world.send('failure');
  await world.close();
  await world.open();
  await world.send('success');
  assert.deepEqual(
    world.raised.map(({ status }) => status),
    ['firing', 'resolved', 'firing', 'resolved'],
  );
});

test('a clock that is set forward does not immediately bring a heartbeat down', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 });
  await world.open();
  await world.send('success');
  world.setClock(10 * 3600);
  await world.pass(30);
  assert.deepEqual([world.status(), world.raised.length], ['late', 0]);
  await world.send('success');
  assert.equal(world.status(), 'up');
});

test('a clock that is set back does not delay a late heartbeat', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 });
  await world.open();
  await world.pass(30);
  await world.send('success');
  world.setClock(-10 * 3600);
  await world.pass(3630);
  assert.equal(world.status(), 'late');
  await world.pass(660);
  assert.deepEqual([world.status(), world.raised.length], ['down', 1]);
});

test('a clock that is set forward and back again does not delay a late heartbeat', async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 });
  await world.open();
  await world.send('success');
  world.setClock(240 * 3600);
  await world.pass(30);
  world.setClock(-240 * 3600);
  await world.pass(30);
  await world.send('success');
  await world.pass(3700);
  assert.equal(world.status(), 'late');
  await world.pass(600);
  assert.deepEqual([world.status(), world.raised.length], ['down', 1]);
});

test('a daily job is due at the same local time before and after clocks change', async (t) => {
  const definition = { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', grace: 60 };
  const world = createWorld(t, definition, '2026-03-28T01:30:00Z');
  await world.open();
  await world.send('success');
  // Clocks skip half past two on the 29th, so the job is due at three.
  await world.pass(23.5 * 3600 + 30, 90);
  assert.equal(world.status(), 'late');
  await world.send('success');
  await world.pass(23.5 * 3600 - 60, 90);
  assert.equal(world.status(), 'up');
  await world.pass(60 + 61);
  assert.equal(world.status(), 'down');
});

test('a job that fails every second raises an alert once a minute', async (t) => {
  const world = createWorld(t, { period: 3600 });
  await world.open();
  for (let count = 0; count < 130; count += 1) {
    await world.send('failure');
    await world.pass(1, 1);
  }
  assert.equal(world.raised.length, 3);
});

test('a job that fails soon after its alert about being late raises the next alert a minute later', async (t) => {
  const world = createWorld(t, { period: 600, grace: 60 });
  await world.open();
  await world.send('success');
  await world.pass(670);
  await world.send('failure');
  assert.equal(world.raised.length, 1);
  await world.pass(60);
  assert.deepEqual(world.messages().slice(1), ['firing: Heartbeat job failed']);
  await world.pass(120);
  assert.equal(world.raised.length, 2);
});

test('a heartbeat created again after the clock was set back is expected once, also after a start without a snapshot', {
  timeout: 60_000,
}, async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 }, undefined, true);
  world.loseSnapshots();
  await world.open();
  world.setClock(3600);
  await world.create();
  await world.remove();
  world.setClock(-3600);
  await world.create();
  await world.send('success');
  const count = world.countRecords();
  await world.close();
  await world.open();
  assert.deepEqual([world.countRecords(), world.status()], [count, 'up']);
  await world.pass(3630);
  assert.equal(world.status(), 'late');
  await world.pass(660);
  assert.deepEqual([world.status(), world.raised.length], ['down', 1]);
});

test('a heartbeat created again after the clock was set back resolves the alert of its predecessor', {
  timeout: 60_000,
}, async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 }, undefined, true);
  await world.open();
  world.setClock(3600);
  await world.create();
  await world.send('failure');
  world.setClock(-3600);
  await world.create();
  assert.deepEqual(
    world.raised.map(({ status }) => status),
    ['firing', 'resolved'],
  );
  await world.pass(4290);
  assert.equal(world.status(), 'down');
});

test('a step that changes nothing is repeated after 5 s', { timeout: 60_000 }, async (t) => {
  const world = createWorld(t, { period: 3600, grace: 600 }, undefined, true);
  await world.open();
  const count = world.ignoreRecords();
  await world.create();
  await world.pass(4, 1);
  assert.equal(count(), 1);
  await world.pass(2, 1);
  assert.equal(count(), 2);
});

for (const what of ['list', 'find'] as const)
  test(`a check that fails is repeated, and does not stop other checks: ${what}`, async (t) => {
    const world = createWorld(t, { period: 3600, grace: 600 });
    await world.open();
    await world.send('success');
    await world.checkBroken(what);
    await world.pass(4290);
    assert.deepEqual([world.status(), world.raised.length], ['down', 1]);
    await world.close();
  });
