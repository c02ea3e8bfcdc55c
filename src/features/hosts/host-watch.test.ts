import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReport } from '../../../test/hosts/support/hosts.ts';
import type { Severity } from '../../kit/severity.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { ownLease } from '../../storage/postgres/lease.ts';
import { Fleet } from './fleet.ts';
import type { HostState, HostStore } from './host-state.ts';
import { HostWatch } from './host-watch.ts';

const start = Date.parse('2026-01-31T12:00:00Z');
const reportMs = 10_000;

interface Alert {
  level: string;
  message: string;
  status: string;
  fingerprint: string;
}

/** Hosts in memory, a clock that only the test moves, and the raised alerts. */
const createDesk = (names: readonly string[], silentMs = 120_000, silentLevel: Severity = 'CRITICAL') => {
  let now = start;
  let isStoreDown = false;
  let tellLease: (isHeld: boolean) => void = () => undefined;
  const states = new Map<string, HostState>();
  const store: HostStore = {
    load: async () => [...states.values()],
    loadChanged: async () => [],
    save: async (state) => {
      if (isStoreDown) throw new StoreUnavailable('The store is down');
      states.set(state.name, state);
    },
    read: async () => [],
    delete: async (name) => void states.delete(name),
    close: async () => undefined,
  };
  const alerts: Alert[] = [];
  const known = new Set(names);
  const list = () =>
    [...known].map((name) => ({ name, tags: [], aliases: [], note: '', dependsOn: [], setting: undefined }));
  const open = async () => {
    const fleet = new Fleet(store, { isKept: () => true, silentMs: () => silentMs });
    await fleet.load();
    const watch = new HostWatch({
      fleet,
      keeper: { list, find: (name) => list().find((each) => each.name === name) },
      alerts: {
        raise: async (alert) => ({ id: String(alerts.push(alert)) }),
        listRaised: async () =>
          new Map(
            alerts.map(({ fingerprint, status, level }, index) => [
              fingerprint,
              { id: String(index + 1), ids: [], level, isResolved: status === 'resolved' },
            ]),
          ),
      },
      lease: {
        ...ownLease,
        onChanged: (listener) => {
          tellLease = listener;
        },
      },
      silentMs: () => silentMs,
      silentLevel: () => silentLevel,
      clock: () => new Date(now),
      log: { warn: () => assert.fail('nothing fails') },
    });
    return { fleet, watch };
  };
  let running: Awaited<ReturnType<typeof open>> | undefined;
  const run = async () => {
    running ??= await open();
    return running;
  };
  const take = (fleet: Fleet, name: string, more: object) =>
    fleet
      .take(name, createReport(name, { time: new Date(now).toISOString(), ...more }), now)
      .catch((error) => assert.ok(isStoreDown, error));
  return {
    alerts,
    messages: () => alerts.map(({ message }) => message),
    forget: (name: string) => known.delete(name),
    /** Advances the clock by report intervals. The hosts in `up` report in each interval. */
    pass: async (seconds: number, up: readonly string[] = [], more: object = {}) => {
      const { fleet, watch } = await run();
      for (let passed = 0; passed < seconds * 1000; passed += reportMs) {
        now += reportMs;
        for (const name of up) await take(fleet, name, more);
        await watch.look();
      }
    },
    /** Advances the clock without reports, with a check at the end. */
    skip: async (seconds: number) => {
      now += seconds * 1000;
      await (await run()).watch.look();
    },
    setStoreDown: (isDown: boolean) => {
      isStoreDown = isDown;
    },
    gainLease: () => tellLease(true),
    report: async (name: string, more: object = {}) => {
      const { fleet, watch } = await run();
      await take(fleet, name, more);
      await watch.look();
    },
    /** Stops the hub for some seconds. */
    stop: async (seconds: number) => {
      await (await run()).watch.close();
      running = undefined;
      now += seconds * 1000;
    },
    judge: async (name: string) => (await run()).watch.judge(name).state,
  };
};

test('a host without a report for silentSeconds raises one CRITICAL alert, which its next report resolves', async () => {
  const { alerts, pass, judge, messages } = createDesk(['web-1', 'web-2', 'web-3']);
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await pass(70, ['web-2', 'web-3']);
  assert.equal(await judge('web-1'), 'late');
  assert.equal(alerts.length, 0);
  await pass(50, ['web-2', 'web-3']);
  assert.equal(await judge('web-1'), 'silent');
  await pass(600, ['web-2', 'web-3']);
  assert.deepEqual(
    alerts.map(({ level, status }) => [level, status]),
    [['CRITICAL', 'firing']],
  );
  assert.match(messages()[0] ?? '', /^web-1 has not reported since \d\d:01$/);
  await pass(10, ['web-1', 'web-2', 'web-3'], { uptimeSeconds: 60 });
  assert.equal(alerts.length, 2);
  assert.match(
    messages()[1] ?? '',
    /^web-1 is reporting again: no reports from \d\d:01 to \d\d:13 \(12 min\)\. The machine was started at \d\d:12\.$/,
  );
});

test('no host is reported silent for time in which the hub was off', async () => {
  const { alerts, pass, stop } = createDesk(['web-1', 'web-2', 'web-3']);
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await stop(3600);
  await pass(60);
  await pass(300, ['web-1', 'web-2', 'web-3']);
  assert.deepEqual(alerts, []);
});

test('an alert stays while the hub is off, is not raised again, and is resolved afterwards', async () => {
  const { messages, pass, stop } = createDesk(['web-1', 'web-2', 'web-3']);
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await pass(180, ['web-2', 'web-3']);
  assert.equal(messages().length, 1);
  await stop(600);
  await pass(300, ['web-2', 'web-3']);
  assert.equal(messages().length, 1);
  await pass(10, ['web-1', 'web-2', 'web-3']);
  assert.equal(messages().length, 2);
});

test('a host that shut down cleanly counts as stopped for ten minutes, then as silent', async () => {
  const { alerts, judge, pass, report } = createDesk(['web-1', 'web-2', 'web-3']);
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await report('web-1', { isStopping: true });
  await pass(590, ['web-2', 'web-3']);
  assert.equal(await judge('web-1'), 'stopped');
  assert.deepEqual(alerts, []);
  await pass(20, ['web-2', 'web-3']);
  assert.equal(alerts.length, 1);
});

test('if more than half of the hosts fall silent within a minute, one alert reports the hub or its network', async () => {
  const all = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5'];
  const { messages, pass } = createDesk(all);
  await pass(60, all);
  await pass(30, all.slice(1));
  await pass(300, all.slice(3));
  assert.match(
    messages().join('\n'),
    /^3 of 5 hosts have not reported since \d\d:01: this hub or its network is the likely cause$/,
  );
  await pass(30, all);
  assert.deepEqual(messages().slice(1), ['All hosts are reporting again']);
});

test('a host that stays silent after most hosts return raises its own alert', async () => {
  const all = ['web-1', 'web-2', 'web-3'];
  const { messages, pass } = createDesk(all);
  await pass(60, all);
  await pass(200);
  await pass(200, all.slice(1));
  assert.equal(messages().length, 3);
  assert.equal(messages()[1], 'Most hosts are reporting again; 1 is still silent');
  assert.match(messages()[2] ?? '', /^web-1 has not reported since/);
});

test('two of five hosts that fall silent raise an alert each', async () => {
  const all = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5'];
  const { messages, pass } = createDesk(all);
  await pass(60, all);
  await pass(300, all.slice(2));
  assert.deepEqual(
    messages().map((text) => text.slice(0, 'web-1 has not reported'.length)),
    ['web-1 has not reported', 'web-2 has not reported'],
  );
});

test('a host that is deleted while it is silent resolves its alert', async () => {
  const { messages, pass, forget } = createDesk(['web-1', 'web-2', 'web-3']);
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await pass(180, ['web-2', 'web-3']);
  forget('web-1');
  await pass(10, ['web-2', 'web-3']);
  assert.equal(messages()[1], 'web-1 was deleted');
});

test('two machines that report under one name in turn raise an alert; a machine that replaces another machine does not', async () => {
  const { alerts, messages, pass, report } = createDesk(['web-1']);
  await report('web-1', { machineId: 'old', hostname: 'a' });
  await pass(10);
  await report('web-1', { machineId: 'new', hostname: 'b' });
  assert.deepEqual(alerts, []);
  await pass(10);
  await report('web-1', { machineId: 'old', hostname: 'a' });
  assert.deepEqual(messages(), ['2 machines report as web-1: a (machine-id old), b (machine-id new)']);
  await pass(660, ['web-1'], { machineId: 'old', hostname: 'a' });
  assert.equal(messages()[1], 'Only one machine reports as web-1 now');
});

test('a host that falls silent while the alert about most hosts fires raises its own alert', async () => {
  const all = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5'];
  const { messages, pass, stop } = createDesk(all);
  await pass(60, all);
  await pass(300, all.slice(3));
  assert.equal(messages().length, 1);
  await pass(200, all.slice(4));
  assert.match(messages().slice(1).join('\n'), /^web-4 has not reported since \d\d:06$/);
  await stop(60);
  await pass(300, all.slice(4));
  assert.equal(messages().length, 2);
});

test('the alert about most hosts stays while the hub is off, and covers the same hosts afterwards', async () => {
  const all = ['web-1', 'web-2', 'web-3'];
  const { messages, pass, stop } = createDesk(all);
  await pass(60, all);
  await pass(200);
  await stop(600);
  await pass(300);
  assert.equal(messages().length, 1);
  await pass(10, all);
  assert.deepEqual(messages().slice(1), ['All hosts are reporting again']);
});

test('no host is reported silent for time in which reports could not be stored', async () => {
  const all = ['web-1', 'web-2', 'web-3'];
  const { alerts, pass, setStoreDown } = createDesk(all);
  await pass(60, all);
  setStoreDown(true);
  await pass(300, all);
  setStoreDown(false);
  await pass(10, all.slice(2));
  assert.deepEqual(alerts, []);
  await pass(120, all.slice(1));
  assert.deepEqual(
    alerts.map(({ fingerprint }) => fingerprint),
    ['host/web-1'],
  );
});

test('a host with reports that cannot be stored does not hide the silence of another host', async () => {
  const all = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5'];
  const { messages, pass, report, setStoreDown } = createDesk(all);
  await pass(60, all);
  for (let passed = 0; passed < 150; passed += 10) {
    setStoreDown(true);
    await report('web-1');
    setStoreDown(false);
    await pass(10, all.slice(2));
  }
  assert.ok(messages().some((message) => message.startsWith('web-2 has not reported')));
});

test('no host is reported silent for time in which no instance held the lease', async () => {
  const all = ['web-1', 'web-2', 'web-3'];
  const { alerts, gainLease, pass } = createDesk(all);
  await pass(60, all);
  await pass(110);
  gainLease();
  await pass(100);
  await pass(10, all);
  assert.deepEqual(alerts, []);
});

test('a gap of a quarter of silentSeconds between two checks counts as an outage of the hub', async () => {
  const { alerts, pass, skip } = createDesk(['web-1'], 20_000);
  await pass(10, ['web-1']);
  await skip(25);
  for (let second = 0; second < 15; second += 1) await skip(1);
  assert.deepEqual(alerts, []);
  for (let second = 0; second < 10; second += 1) await skip(1);
  assert.equal(alerts.length, 1);
});

test('the resolution of a silence of less than a minute names the period of the missing reports', async () => {
  const { messages, pass } = createDesk(['web-1', 'web-2', 'web-3'], 50_000, 'ERROR');
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await pass(50, ['web-2', 'web-3']);
  await pass(10, ['web-1', 'web-2', 'web-3']);
  assert.equal(messages().length, 2);
  assert.match(messages()[1] ?? '', /^web-1 is reporting again: no reports from \d\d:\d\d to \d\d:\d\d \(1 min\)\.$/);
});

test('alerts about silent hosts have the level of silentLevel', async () => {
  const { alerts, pass } = createDesk(['web-1', 'web-2', 'web-3'], 50_000, 'ERROR');
  await pass(60, ['web-1', 'web-2', 'web-3']);
  await pass(50, ['web-2', 'web-3']);
  await pass(50);
  assert.deepEqual(
    alerts.map(({ level }) => level),
    ['ERROR', 'ERROR'],
  );
});
