import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Heartbeat } from '../../src/features/heartbeats/schema.ts';
import type { Silence } from '../../src/features/silences/schema.ts';
import { listIncidents, waitForIncident } from '../incidents/support/incidents.ts';
import { startApp, startRefusal } from '../support/app.ts';
import { createTestStore } from '../support/test-store.ts';
import { createHeartbeat, listRuns, ping, readHeartbeat } from './support/heartbeats.ts';

test('a heartbeat can be replaced in the expected version, keeps its address, and can be deleted', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const created = await createHeartbeat(app, token, 'job', { grace: 60, tags: ['a'] });
  const put = (body: object, headers = {}) =>
    app.request<Heartbeat>('PUT', '/api/heartbeats/job', { token, body, headers });
  const schedule = { schedule: '0 2 * * *', timeZone: 'Europe/Berlin', level: 'CRITICAL' };
  const changed = await put(schedule, { 'if-match': `"${created.version}"` });
  assert.deepEqual(
    [changed.status, changed.json.uuid, changed.json.period, changed.json.schedule, changed.json.level],
    [200, created.uuid, null, '0 2 * * *', 'CRITICAL'],
  );
  const stale = await put(schedule, { 'if-match': `"${created.version}"` });
  assert.deepEqual([stale.status, stale.headers['etag']], [412, `"${changed.json.version}"`]);
  await ping(app.url, created.uuid);
  const gone = await app.request('DELETE', '/api/heartbeats/job', { token, headers: { 'if-match': '"1000"' } });
  assert.equal(gone.status, 412);
  assert.equal((await app.request('DELETE', '/api/heartbeats/job', { token })).status, 200);
  assert.equal((await app.request('GET', '/api/heartbeats/job')).status, 404);
  assert.equal((await ping(app.url, created.uuid)).status, 404);
  const again = await createHeartbeat(app, token, 'job');
  assert.notEqual(again.uuid, created.uuid);
  assert.deepEqual([again.state, await listRuns(app, 'job')], ['new', []]);
});

test('a new heartbeat gets the given address unless another has it, and keeps its address later', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const uuid = randomUUID();
  const put = (name: string, body: object) =>
    app.request<Heartbeat & { error: string }>('PUT', `/api/heartbeats/${name}`, { token, body });
  const created = await put('job', { period: 60, uuid: uuid.toUpperCase() });
  assert.deepEqual([created.status, created.json.uuid], [201, uuid]);
  assert.equal((await ping(app.url, uuid)).status, 200);
  const other = await put('other', { period: 60, uuid });
  assert.deepEqual([other.status, other.json.error], [409, 'Another heartbeat has this UUID']);
  const changed = await put('job', { period: 120, uuid: randomUUID() });
  assert.deepEqual([changed.status, changed.json.uuid, changed.json.period], [200, uuid, 120]);
  const shown = await app.request<Heartbeat>('GET', '/api/heartbeats/job');
  assert.equal((await put('job', shown.json)).json.uuid, uuid);
  assert.equal((await put('third', { period: 60, uuid: 'x' })).status, 400);
});

test('the second of two requests that create a heartbeat with If-None-Match gets 412', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const create = (period: number, headers = {}) =>
    app.request<Heartbeat>('PUT', '/api/heartbeats/job', {
      token,
      body: { period },
      headers: { 'if-none-match': '*', ...headers },
    });
  const both = await Promise.all([create(60), create(120)]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 412]);
  const { json } = await app.request<Heartbeat>('GET', '/api/heartbeats/job');
  assert.equal(json.period, both.find(({ status }) => status === 201)?.json.period);
  assert.equal((await create(60, { 'if-none-match': '"1"' })).status, 400);
});

test('two concurrent requests without a condition create one heartbeat with one address', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const create = (period: number) => app.request<Heartbeat>('PUT', '/api/heartbeats/job', { token, body: { period } });
  const both = await Promise.all([create(60), create(120)]);
  assert.equal(new Set(both.map(({ json }) => json.uuid)).size, 1);
});

test('If-Match changes only an existing heartbeat', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const put = (condition: string) =>
    app.request<{ error: string }>('PUT', '/api/heartbeats/job', {
      token,
      body: { period: 60 },
      headers: { 'if-match': condition },
    });
  for (const condition of ['*', '"1"']) {
    const { status, json } = await put(condition);
    assert.deepEqual([status, json.error], [412, 'job was deleted']);
  }
  await createHeartbeat(app, token, 'job');
  assert.equal((await put('*')).status, 200);
});

test('an invalid definition is refused with advice', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const refused: [body: object, message: RegExp][] = [
    [{}, /either period or schedule/],
    [{ period: 60, schedule: '* * * * *' }, /either period or schedule/],
    [{ period: 9 }, /period must be at least 10/],
    [{ period: 60, timeZone: 'UTC' }, /timeZone can be used only with schedule/],
    [{ schedule: '61 * * * *' }, /schedule must be a cron expression/],
    [{ schedule: '0 0 30 2 *' }, /never matches a date/],
    [{ schedule: '0 0 * * *', timeZone: 'Mars/Base' }, /timeZone must be a name/],
    [{ period: 60, grace: 0 }, /grace must be at least 1/],
    [{ period: 60, maxRunMinutes: 0 }, /maxRunMinutes/],
    [{ period: 60, level: 'LOUD' }, /level must be/],
    [{ period: 60, tags: ['x'.repeat(101)] }, /tags/],
  ];
  for (const [body, message] of refused) {
    const { status, json } = await app.request('PUT', '/api/heartbeats/job', { token, body });
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(String(json['error']), message);
  }
  for (const name of [randomUUID(), 'a%2Fb', '.a']) {
    const { status } = await app.request('PUT', `/api/heartbeats/${name}`, { token, body: { period: 60 } });
    assert.equal(status, 400, name);
  }
  const reader = await app.login('reader');
  const { status } = await app.request('PUT', '/api/heartbeats/job', { token: reader, body: { period: 60 } });
  assert.equal(status, 403);
});

test('heartbeats of the config file are listed, and can be changed only in the file', async (t) => {
  const uuid = randomUUID();
  const heartbeats = [
    { name: 'certs', schedule: '0 3 * * 1', timeZone: 'UTC', uuid },
    { name: 'plain', period: 60 },
  ];
  const app = await startApp(t, { settings: { heartbeats } });
  const token = await app.login('admin');
  const { isConfigured, version, uuid: shown } = await readHeartbeat(app, 'certs', token);
  assert.deepEqual([isConfigured, version, shown], [true, 0, uuid]);
  assert.equal((await ping(app.url, uuid)).status, 200);
  assert.equal((await ping(app.url, 'plain', { headers: { authorization: `Bearer ${token}` } })).status, 200);
  for (const method of ['PUT', 'DELETE']) {
    const body = method === 'PUT' ? { body: { period: 60 } } : {};
    const { status, json } = await app.request(method, '/api/heartbeats/certs', { token, ...body });
    assert.equal(status, 409);
    assert.match(String(json['error']), /is defined in the config file/);
  }
  const paused = await app.request<Heartbeat>('POST', '/api/heartbeats/certs/pause', { token });
  assert.deepEqual([paused.json.state, paused.json.pausedBy], ['paused', 'admin']);
});

test('settings with invalid heartbeats are refused', async (t) => {
  const refused: [heartbeats: object[], message: RegExp][] = [
    [
      [
        { name: 'a', period: 60 },
        { name: 'a', period: 60 },
      ],
      /needs a different name/,
    ],
    [[{ name: 'a' }], /heartbeats.a: set either period or schedule/],
    [[{ name: 'a', schedule: '0 0 * * *', timeZone: 'No/Where' }], /heartbeats.a: timeZone must be a name/],
    [[{ name: randomUUID(), period: 60 }], /not be a UUID/],
    [[{ name: 'a', period: 60, uuid: '1' }], /uuid/],
  ];
  for (const [heartbeats, message] of refused)
    assert.match(await startRefusal(t, { settings: { heartbeats } }), message);
});

test('pausing a heartbeat resolves its incident, and pings are expected again once it is resumed', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, `${uuid}/fail`);
  await waitForIncident(app, { state: 'open' });
  await app.request('POST', '/api/heartbeats/job/pause', { token });
  await waitForIncident(app, { state: 'resolved' });
  await ping(app.url, `${uuid}/fail`);
  assert.equal((await readHeartbeat(app, 'job')).state, 'paused');
  const { json } = await app.request<Heartbeat>('POST', '/api/heartbeats/job/resume', { token });
  assert.deepEqual([json.state, json.pausedAt], ['up', null]);
  assert.equal((await listIncidents(app, '?state=open')).total, 0);
});

test('deleting a heartbeat that is down resolves its incident', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { uuid } = await createHeartbeat(app, token, 'job');
  await ping(app.url, `${uuid}/fail`);
  await waitForIncident(app, { state: 'open' });
  await app.request('DELETE', '/api/heartbeats/job', { token });
  await waitForIncident(app, { state: 'resolved' });
});

test('anybody can see the badge of a heartbeat with open, and nobody the badge of another heartbeat', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const token = await app.login('admin');
  await createHeartbeat(app, token, 'shown', { open: true });
  await createHeartbeat(app, token, 'hidden');
  const answer = await fetch(`${app.url}/api/heartbeats/shown/badge.svg`);
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/svg+xml']);
  assert.match(await answer.text(), /^<svg .*shown: new.*<\/svg>$/);
  for (const name of ['hidden', 'none']) {
    assert.equal((await fetch(`${app.url}/api/heartbeats/${name}/badge.svg`)).status, 404);
  }
});

test('metrics count heartbeats by state, and pings by type', async (t) => {
  const app = await startApp(t);
  const { uuid } = await createHeartbeat(app, await app.login('admin'), 'job');
  await ping(app.url, uuid);
  const text = await (await fetch(`${app.url}/metrics`)).text();
  assert.match(text, /^signalbox_heartbeats\{state="up"\} 1$/m);
  assert.match(text, /^signalbox_heartbeat_pings_total\{type="success"\} 1$/m);
});

test('states, runs and alerts survive a restart', async (t) => {
  const store = await createTestStore();
  const first = await startApp(t, { settings: store });
  const token = await first.login('admin');
  const { uuid } = await createHeartbeat(first, token, 'job');
  await ping(first.url, `${uuid}/start`);
  await ping(first.url, `${uuid}/4`, { method: 'POST', body: 'no space' });
  const incident = await waitForIncident(first, { state: 'open' });
  const [before, runs] = [await readHeartbeat(first, 'job', token), await listRuns(first, 'job')];
  await first.close();
  const second = await startApp(t, { settings: { ...store, dataDir: `${first.folder}/data` } });
  assert.deepEqual(await readHeartbeat(second, 'job', await second.login('admin')), before);
  assert.deepEqual(await listRuns(second, 'job'), runs);
  await ping(second.url, uuid);
  const resolved = await waitForIncident(second, { state: 'resolved' });
  assert.deepEqual([resolved.id, resolved.count], [incident.id, 2]);
});

test('schedules of heartbeats, silences and rotations follow the rules of cron, and a date is refused with the reason', async (t) => {
  const destinations = ['anna', 'ben'].map((name) => ({
    name,
    type: 'webhook',
    url: 'http://127.0.0.1:9/',
    notify: 'incidents',
  }));
  const first = '0 12 */100,1-7 * MON';
  const rotation = { name: 'oncall', members: ['anna', 'ben'], handover: first, timeZone: 'UTC' };
  const app = await startApp(t, { settings: { destinations, rotations: [rotation] } });
  const token = await app.login('admin');
  /** Asserts that a time is noon on the first Monday of a month. */
  const assertFirstMonday = (time: unknown): void => {
    const date = new Date(String(time));
    assert.match(date.toISOString(), /-0[1-7]T12:00:00\.000Z$/);
    assert.equal(date.getUTCDay(), 1);
  };
  const put = (name: string, schedule: string) =>
    app.request<Heartbeat>('PUT', `/api/heartbeats/${name}`, { token, body: { schedule, timeZone: 'UTC' } });
  await ping(app.url, `${(await put('job', first)).json.uuid}`);
  assertFirstMonday((await readHeartbeat(app, 'job')).dueAt);
  const silence = (schedule: string) =>
    app.request<Silence>('POST', '/api/silences', {
      token,
      body: { match: { source: 'a' }, schedule, minutes: 60, timeZone: 'UTC' },
    });
  const silenced = await silence(first);
  assert.equal(silenced.status, 201, JSON.stringify(silenced.json));
  assertFirstMonday(silenced.json.window?.startsAt);
  const oncall = await app.request<{ data: { next: { startsAt: string } }[] }>('GET', '/api/oncall');
  assertFirstMonday(oncall.json.data[0]?.next.startsAt);
  const date = '2020-01-01T00:00:00';
  for (const refused of [await put('other', date), await silence(date)]) {
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.json), /must have five fields: minute, hour, day, month, day of the week/);
  }
  const broken = await startRefusal(t, { settings: { destinations, rotations: [{ ...rotation, handover: date }] } });
  assert.match(broken, /must have five fields/);
});
