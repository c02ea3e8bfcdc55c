import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Heartbeat } from '../../src/features/heartbeats/schema.ts';
import { createHeartbeat, listRuns, ping, readHeartbeat } from '../heartbeats/support/heartbeats.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { messagesTo, toIncidentDestination, withClock } from '../support/notifications.ts';
import { adminToken, waitForRequests } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runCommand } from '../support/program.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { createFiles, createTables, exportFrom, importInto, type Place, testMoves } from '../support/transfer.ts';
import { waitUntilPasses } from '../support/wait.ts';

const skip = toSkipPostgres();

/** Starts a server whose clock is `seconds` behind. */
const startBehind = (t: Scope, { settings }: Place, seconds: number, receiver: Receiver): Promise<TestApp> =>
  startApp(t, {
    settings: { ...settings, timeZone: 'UTC', destinations: [toIncidentDestination(receiver)] },
    features: withClock(() => new Date(Date.now() - seconds * 1000)),
  });

const waitForState = (app: TestApp, name: string, state: Heartbeat['state']): Promise<void> =>
  waitUntilPasses(async () => assert.equal((await readHeartbeat(app, name)).state, state));

/** Fills a store with heartbeats in all states. The last pings arrive two minutes ago. */
const fill = async (t: Scope, place: Place): Promise<void> => {
  const receiver = await startReceiver(t);
  const first = await startBehind(t, place, 200, receiver);
  const token = await adminToken(first);
  const create = async (name: string, body: object) => (await createHeartbeat(first, token, name, body)).uuid;
  const { url } = first;
  await ping(url, await create('overdue', { period: 10, grace: 1 }));
  await ping(url, await create('late', { period: 60, grace: 3600 }));
  await create('new', {});
  await first.close();
  const second = await startBehind(t, place, 120, receiver);
  const add = async (name: string, body: object) =>
    (await createHeartbeat(second, await adminToken(second), name, body)).uuid;
  const up = await add('up', { description: 'nightly', maxRunMinutes: 90 });
  await ping(second.url, `${up}/start?rid=019c1e5a-7c11-4b5e-a1f0-3d0a7d6e2c56`);
  await ping(second.url, `${up}/log`, { method: 'POST', body: 'a text \u0000' });
  await ping(second.url, `${up}?rid=019c1e5a-7c11-4b5e-a1f0-3d0a7d6e2c56`, { method: 'POST', body: '412 files' });
  await ping(second.url, `${await add('running', { maxRunMinutes: 90 })}/start`);
  const failed = await add('failed', {});
  await ping(second.url, `${failed}/3`, { method: 'POST', body: 'no space' });
  await ping(second.url, await add('soon', { period: 60, grace: 30 }));
  await add('paused', {});
  const { status } = await second.request('POST', '/api/heartbeats/paused/pause', { token: await adminToken(second) });
  assert.equal(status, 200);
  // The second problem of this heartbeat arose less than a minute after its alert, so a second alert is waiting.
  await waitForRequests(receiver, 2);
  await ping(second.url, `${failed}/4`, { method: 'POST', body: 'still no space' });
  await waitForState(second, 'overdue', 'down');
  await second.close();
  assert.deepEqual(listMessages(receiver).sort(), [
    'opened Heartbeat failed failed with exit code 3',
    'opened Heartbeat overdue is late',
  ]);
};

/** Returns the notifications without times and numbers. Numbers depend on the order of simultaneous problems. */
const listMessages = (receiver: Receiver): string[] =>
  messagesTo(receiver).map((text) => text.replace(/ #\d+|:.*/g, ''));

const readAll = async (app: TestApp) => {
  const token = await adminToken(app);
  const { json } = await app.request<{ data: Heartbeat[] }>('GET', '/api/heartbeats?runs=100', { token });
  const runs = await Promise.all(json.data.map(async ({ name }) => [name, await listRuns(app, name)]));
  const incidents = await app.request('GET', '/api/incidents?state=all');
  const alerts = await app.request<{ data: object[] }>('GET', '/api/alerts/search?limit=100');
  return { heartbeats: json, runs, incidents: incidents.json, alerts: alerts.json.data.map((each) => Object(each).id) };
};

const readBefore = async (t: Scope, place: Place) => {
  const app = await startBehind(t, place, 119, await startReceiver(t));
  const before = await readAll(app);
  assert.deepEqual(
    before.heartbeats.data.map(({ name, state }) => `${name} ${state}`),
    ['failed down', 'late late', 'new new', 'overdue down', 'paused paused', 'running running', 'soon up', 'up up'],
  );
  await app.close();
  return before;
};

/** Checks that a server on an imported store shows the same state, and that the move raises no alert. */
const assertGoesOn = async (t: Scope, place: Place, before: unknown): Promise<void> => {
  const receiver = await startReceiver(t);
  const app = await startBehind(t, place, 118, receiver);
  assert.deepEqual(await readAll(app), before);
  await app.close();
  const later = await startBehind(t, place, 0, receiver);
  // The ping was due while no server was running, so the heartbeat gets another grace period.
  await waitForState(later, 'soon', 'late');
  await waitForState(later, 'overdue', 'down');
  const { uuid } = await readHeartbeat(later, 'overdue', await adminToken(later));
  await ping(later.url, uuid ?? '');
  // The second problem of the failing heartbeat still has its alert, and the recovery ends the other alert.
  await waitForRequests(receiver, 1);
  assert.deepEqual(listMessages(receiver), ['resolved Heartbeat overdue is late']);
  const levels = await readAll(later);
  assert.equal(levels.heartbeats.data.find(({ name }) => name === 'soon')?.state, 'late');
  await later.close();
};

testMoves({
  what: 'heartbeats',
  fill: async (t, place) => {
    await fill(t, place);
    return readBefore(t, place);
  },
  assertGoesOn,
  imported: /^signalbox: imported settings \d+, alerts 2, incidents 2, availability \d+, heartbeats 8\n$/,
});

test('an instance that runs during the import into its database shows the heartbeats, and raises no alert', {
  skip,
}, async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const { heartbeats } = await readBefore(t, place);
  const database = await createTables(t);
  const receiver = await startReceiver(t);
  const running = await startBehind(t, database, 0, receiver);
  assert.equal((await running.request('GET', '/api/heartbeats')).status, 200);
  await importInto(database, await exportFrom(place));
  await waitForState(running, 'soon', 'late');
  const after = await readAll(running);
  assert.deepEqual(
    after.heartbeats.data.map(({ name, state, lastRun }) => ({ name, state, lastRun })),
    heartbeats.data.map(({ name, state, lastRun }) => ({ name, state: name === 'soon' ? 'late' : state, lastRun })),
  );
  const token = await adminToken(running);
  const { uuid } = await readHeartbeat(running, 'overdue', token);
  await ping(running.url, uuid ?? '');
  await waitForRequests(receiver, 1);
  assert.deepEqual(listMessages(receiver), ['resolved Heartbeat overdue is late']);
});

test('heartbeats that cannot be imported are named by line, and nothing is stored', async (t) => {
  const place = createFiles(t);
  await fill(t, place);
  const [line = ''] = (await exportFrom(place)).split('\n').filter((each) => each.startsWith('{"heartbeats":'));
  const { heartbeats } = JSON.parse(line);
  const next = createFiles(t);
  const [run] = heartbeats.runs;
  const long = Array.from({ length: 2 }, () => ({ ...run, output: 'x'.repeat(40_000) }));
  for (const [states, problem] of [
    [[heartbeats, heartbeats], 'line 3: heartbeats.name was already used in an earlier line'],
    [[{ ...heartbeats, secret: 1 }], 'line 2: heartbeats has unknown keys; remove secret'],
    [[{ ...heartbeats, name: ':alive' }], 'line 2: heartbeats.name must be a name of a heartbeat'],
    [[{ ...heartbeats, base: 1e300 }], 'line 2: heartbeats.base must be'],
    [[{ ...heartbeats, runs: Array.from({ length: 101 }, () => run) }], 'line 2: heartbeats.runs must not have more'],
    [
      [{ ...heartbeats, runs: long }],
      'line 2: heartbeats.runs must not have more than 65536 characters of output in all',
    ],
  ] as const) {
    const input = [header, ...states.map((state) => JSON.stringify({ heartbeats: state })), end, ''].join('\n');
    const { code, stderr } = await runCommand(['import', ...next.flags], { input });
    assert.equal(code, 1);
    assert.ok(stderr.startsWith(`signalbox: ${problem}`), stderr);
    assert.match(stderr, /; nothing was imported\n$/);
  }
  const again = await runCommand(['import', ...place.flags], { input: [header, line, end, ''].join('\n') });
  assert.match(
    again.stderr,
    /^signalbox: the store is not empty, because \w+ are or were stored; import into an empty store\n$/,
  );
  assert.equal(await importInto(next, [header, line, end, ''].join('\n')), 'signalbox: imported heartbeats 1\n');
  const twice = await runCommand(['import', ...next.flags], { input: [header, line, end, ''].join('\n') });
  assert.equal(
    twice.stderr,
    'signalbox: the store is not empty, because heartbeats are or were stored; import into an empty store\n',
  );
});
