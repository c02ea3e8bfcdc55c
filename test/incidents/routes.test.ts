import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import type { Incident } from '../../src/features/incidents/schema.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { listEvents, listIncidents, readIncident, waitForIncident } from './support/incidents.ts';

const disk = { source: 'disk', level: 'ERROR', message: '/var is 86 % full', hostname: 'db-1' };

test('alerts open incidents also with quietHours 0, and with fractions of quietHours and reopenMinutes', async (t) => {
  for (const settings of [{ quietHours: 0 }, { quietHours: 1.1, reopenMinutes: 1.0001 }]) {
    const app = await startApp(t, { settings });
    await sendAlert(app, disk);
    await waitForIncident(app, { number: 1, state: 'open', count: 1 });
  }
});

test('alerts about one problem are one incident, which is acknowledged, raised, resolved and reopened', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  const post = (path: string, body?: object) =>
    app.request<Incident>('POST', `/api/incidents/${path}`, { token, body });
  await sendAlert(app, disk);
  const id = await sendAlert(app, { ...disk, message: '/var is 87 % full' });
  await sendAlert(app, { ...disk, level: 'INFO', message: 'something else' });
  const { id: incident, version } = await waitForIncident(app, {
    number: 1,
    state: 'open',
    count: 2,
    level: 'ERROR',
    title: '/var is 87 % full',
    source: 'disk',
    hostname: 'db-1',
    key: 'disk · db-1 · /var is # % full',
    acknowledgedBy: null,
    resolvedAt: null,
    version: 1,
  });
  assert.equal(version, 1);
  const taken = await post(`${incident}/acknowledge`, { comment: 'on it', until: '2090-01-01T00:00:00Z' });
  assert.equal(taken.status, 200);
  assert.equal(taken.headers['etag'], '"2"');
  assert.deepEqual(
    [taken.json.state, taken.json.acknowledgedBy, taken.json.acknowledgedUntil, taken.json.acknowledgedComment],
    ['acknowledged', 'reader', '2090-01-01T00:00:00.000Z', 'on it'],
  );
  await sendAlert(app, { ...disk, level: 'CRITICAL' });
  await waitForIncident(app, { state: 'open', count: 3, level: 'CRITICAL', highestLevel: 'CRITICAL', reopened: 1 });
  const resolved = await post('1/resolve');
  assert.deepEqual(
    [resolved.json.state, resolved.json.resolvedReason, resolved.json.resolvedBy],
    ['resolved', 'person', 'reader'],
  );
  assert.deepEqual((await listIncidents(app)).data, []);
  await sendAlert(app, disk);
  await waitForIncident(app, { number: 1, state: 'open', count: 4, reopened: 2, level: 'ERROR' }, '');
  assert.equal((await post('1/comment', { comment: 'again' })).status, 200);
  assert.deepEqual(await listEvents(app, 1), [
    'opened',
    'acknowledged',
    'raised',
    'reopened',
    'resolved',
    'reopened',
    'comment',
  ]);
  const { lastAlert, ...details } = await readIncident(app, incident);
  assert.equal(lastAlert?.['message'], disk.message);
  assert.equal(details.timeline[0]?.by, 'address:127.0.0.1');
  const alerts = await app.request<{ data: { id: string }[]; next: null }>('GET', '/api/incidents/1/alerts?limit=3');
  assert.equal(alerts.json.data.length, 3);
  const rest = await app.request<{ data: { id: string }[]; next: number | null }>(
    'GET',
    `/api/incidents/1/alerts?before=${alerts.json.next}`,
  );
  assert.deepEqual([rest.json.data.length, rest.json.next], [1, null]);
  const search = await app.request<{ data: { id: string; incident: object | null }[] }>('GET', '/api/alerts/search');
  assert.deepEqual(
    search.json.data.map((alert) => alert.incident),
    [1, 1, null, 1, 1].map((number) => number && { id: incident, number }),
  );
  const one = await app.request('GET', `/api/alerts/${id}`);
  assert.deepEqual(one.json['incident'], { id: incident, number: 1 });
});

test('the sender of an incident can resolve it, and another sender cannot', async (t) => {
  const keys = ['a', 'b'].map((name) => createAccessKey(name, ['alerts:write']));
  const app = await startApp(t, { settings: { keys: keys.map(({ entry }) => entry) } });
  const send = async (token: string | undefined, status: string) => {
    const body = { ...disk, key: 'backup/db-1', status, labels: { team: 'db' }, link: 'https://desk.example/1' };
    assert.equal((await app.request('POST', '/api/alert', { token, body })).status, 200);
  };
  await send(keys[0]?.key, 'firing');
  await waitForIncident(app, {
    state: 'open',
    key: 'backup/db-1',
    sender: 'key:a',
    labels: { team: 'db' },
    link: 'https://desk.example/1',
  });
  await send(keys[1]?.key, 'resolved');
  await send(undefined, 'resolved');
  await send(undefined, 'firing');
  await waitUntilPasses(async () => assert.equal((await listIncidents(app)).total, 2));
  assert.deepEqual(
    (await listIncidents(app)).data.map(({ sender }) => sender),
    [null, 'key:a'],
  );
  await send(keys[0]?.key, 'resolved');
  await waitForIncident(app, { number: 1, count: 2, resolvedReason: 'sender', resolvedBy: 'key:a' }, '?state=resolved');
});

test('a resolution without a key or fingerprint resolves the incident with the same texts', async (t) => {
  const app = await startApp(t);
  const event = { specversion: '1.0', source: '/jobs/backup', type: 'job.failed' };
  for (const [id, status] of ['firing', 'resolved'].entries()) {
    const body = { ...event, id: `${id}`, data: { message: 'disk is full', severity: 'error', status } };
    assert.equal((await app.request('POST', '/api/alert/cloudevents', { body })).status, 200);
    await waitForIncident(app, { number: 1, count: id + 1 });
  }
  await waitForIncident(app, { state: 'resolved', resolvedReason: 'sender', title: 'disk is full' });
  const { json } = await app.request<{ data: object[] }>('GET', '/api/incidents/1/alerts');
  assert.equal(json.data.length, 2);
});

test('the list is filtered, counted and read page by page, last changed first', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  for (let index = 0; index < 5; index += 1) {
    const level = index % 2 === 0 ? 'crit' : 'warn';
    await sendAlert(app, {
      source: `Job-${index}`,
      level,
      message: `fails on ${index % 2 === 0 ? 'a' : 'b'}`,
      hostname: 'web-1',
    });
  }
  await waitUntilPasses(async () => assert.equal((await listIncidents(app)).total, 5));
  await app.request('POST', '/api/incidents/2/comment', { token, body: { comment: 'x' } });
  const numbersOf = async (query: string) => {
    const { data, total, next } = await listIncidents(app, query);
    return [data.map(({ number }) => number), total, next !== null];
  };
  assert.deepEqual(await numbersOf(''), [[2, 5, 4, 3, 1], 5, false]);
  const { next } = await listIncidents(app, '?limit=2');
  assert.deepEqual(await numbersOf('?limit=2'), [[2, 5], 5, true]);
  assert.deepEqual(await numbersOf(`?limit=3&before=${next}`), [[4, 3, 1], 5, false]);
  assert.deepEqual(await numbersOf('?level=CRITICAL'), [[5, 3, 1], 3, false]);
  assert.deepEqual(await numbersOf('?source=job-3&hostname=WEB-1'), [[4], 1, false]);
  assert.deepEqual(await numbersOf('?source=job-*&hostname=*&limit=2'), [[2, 5], 5, true]);
  assert.deepEqual(await numbersOf('?source=*-3'), [[4], 1, false]);
  assert.deepEqual(await numbersOf('?q=ON%20B&limit=1'), [[2], 2, true]);
  assert.deepEqual(await numbersOf('?q=%234'), [[4], 1, false]);
  assert.deepEqual(await numbersOf('?until=2020-01-01T00:00:00Z'), [[], 0, false]);
  assert.deepEqual(await numbersOf('?since=2020-01-01T00:00:00Z&state=all'), [[2, 5, 4, 3, 1], 5, false]);
  await app.request('POST', '/api/incidents/3/acknowledge', { token });
  await app.request('POST', '/api/incidents/4/resolve', { token });
  assert.deepEqual(await numbersOf('?state=open'), [[2, 5, 1], 3, false]);
  assert.deepEqual(await numbersOf('?state=acknowledged'), [[3], 1, false]);
  assert.deepEqual(await numbersOf('?state=resolved'), [[4], 1, false]);
  assert.deepEqual(await numbersOf('?state=all'), [[4, 3, 2, 5, 1], 5, false]);
});

test('bad input gets a 4xx with a helpful message, and changes nothing', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, disk);
  const before = await waitForIncident(app, { state: 'open' });
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const { status, json } = await app.request(method, `/api/incidents${path}`, { token, body, headers });
    return [status, json['error']];
  };
  const unknown = (id: string) => [
    404,
    `Incident ${id} not found: GET /api/incidents?state=all lists the existing names`,
  ];
  for (const id of ['2', '0', 'x', '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55', '9'.repeat(40)]) {
    assert.deepEqual(await ask('GET', `/${id}`), unknown(id));
    assert.deepEqual(await ask('POST', `/${id}/acknowledge`), unknown(id));
  }
  assert.deepEqual(await ask('POST', '/1/acknowledge', { until: '2020-01-01T00:00:00Z' }), [
    400,
    'until must be in the future',
  ]);
  const time = 'until must be an RFC 3339 time with an offset, such as 2026-01-31T09:30:00Z';
  assert.deepEqual(await ask('POST', '/1/acknowledge', { until: 'tomorrow' }), [400, time]);
  const tooLong = { comment: 'x'.repeat(100_000) };
  for (const action of ['acknowledge', 'resolve', 'comment']) {
    assert.deepEqual(await ask('POST', `/1/${action}`, tooLong), [400, 'comment must not exceed 4000 characters']);
  }
  assert.deepEqual(await ask('POST', '/1/comment', {}), [400, 'comment is required']);
  assert.deepEqual(await ask('POST', '/1/comment', { comment: '' }), [400, 'comment must not be empty']);
  assert.deepEqual(await ask('POST', '/1/resolve', undefined, { 'If-Match': '"7"' }), [
    412,
    'The incident was changed in the meantime: read the incident again',
  ]);
  assert.deepEqual(await ask('GET', '?level=loud'), [400, 'level must be one of CRITICAL, ERROR, WARNING, INFO']);
  assert.equal((await ask('GET', '?state=closed'))[0], 400);
  assert.equal((await ask('POST', '/acknowledge', { ids: [] }))[0], 400);
  assert.deepEqual(await ask('POST', '/acknowledge', { ids: Array.from({ length: 501 }, () => '1') }), [
    400,
    'ids must not have more than 500 entries',
  ]);
  assert.deepEqual((await listIncidents(app)).data, [before]);
  assert.equal((await ask('POST', '/1/resolve', undefined, { 'If-Match': '"1"' }))[0], 200);
  assert.deepEqual(await ask('POST', '/1/acknowledge'), [409, 'Incident #1 is resolved: reopen the incident first']);
  assert.equal((await ask('POST', '/1/resolve'))[0], 200);
  assert.deepEqual(await listEvents(app, 1), ['opened', 'resolved']);
});

test('several incidents are acknowledged or resolved together, with a result for each', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  for (const message of ['a', 'b', 'c']) await sendAlert(app, { level: 'ERROR', message });
  await waitUntilPasses(async () => assert.equal((await listIncidents(app)).total, 3));
  const post = async (path: string, ids: string[]) => {
    const body = { ids, comment: 'all of them' };
    const { json } = await app.request<{ count: number; data: Record<string, unknown>[] }>(
      'POST',
      `/api/incidents/${path}`,
      { token, body },
    );
    assert.equal(json.count, json.data.length);
    return json.data.map(({ id, status, incident, error }) => [
      id,
      status,
      (incident as Incident | null)?.state ?? error,
    ]);
  };
  assert.deepEqual(await post('resolve', ['2', '9']), [
    ['2', 200, 'resolved'],
    ['9', 404, 'Incident 9 not found: GET /api/incidents?state=all lists the existing names'],
  ]);
  assert.deepEqual(await post('acknowledge', ['1', '2', '3']), [
    ['1', 200, 'acknowledged'],
    ['2', 409, 'Incident #2 is resolved: reopen the incident first'],
    ['3', 200, 'acknowledged'],
  ]);
});

test('an incident with several ids in one request changes once', async (t) => {
  const app = await startApp(t);
  const token = await app.login('reader');
  await sendAlert(app, disk);
  const { id } = await waitForIncident(app, { state: 'open' });
  const body = { ids: ['1', id, id.toUpperCase(), '1'] };
  const { json } = await app.request<{ data: { status: number }[] }>('POST', '/api/incidents/acknowledge', {
    token,
    body,
  });
  assert.deepEqual(
    json.data.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.deepEqual(await listEvents(app, 1), ['opened', 'acknowledged']);
});

test('a long source and a long host name are shortened', async (t) => {
  const app = await startApp(t);
  const long = 'x'.repeat(100_000);
  await sendAlert(app, { ...disk, source: long, hostname: long });
  const shown = `${'x'.repeat(255)}…`;
  await waitForIncident(app, { source: shown, hostname: shown, count: 1 });
  await sendAlert(app, { ...disk, source: long, hostname: long });
  await waitForIncident(app, { source: shown, hostname: shown, count: 2 });
});

test('everyone may read incidents, and a key with the scope may change them', async (t) => {
  const [write, read, other] = (['incidents:write', 'incidents:read', 'alerts:write'] as const).map((scope) =>
    createAccessKey(scope, [scope]),
  );
  const app = await startApp(t, { settings: { keys: [write, read, other].map((each) => each?.entry) } });
  await sendAlert(app, disk);
  await waitForIncident(app, { state: 'open' });
  const post = async (token: string | undefined) =>
    (await app.request('POST', '/api/incidents/1/acknowledge', { token })).status;
  assert.deepEqual([await post(undefined), await post(read?.key), await post(other?.key)], [401, 403, 403]);
  assert.equal(await post(write?.key), 200);
  await waitForIncident(app, { state: 'acknowledged', acknowledgedBy: 'key:incidents:write' });
  const closed = await startApp(t, { settings: { keys: [write?.entry, read?.entry], access: 'login' } });
  const get = async (token?: string) => (await closed.request('GET', '/api/incidents', { token })).status;
  assert.deepEqual([await get(), await get(write?.key), await get(read?.key)], [401, 200, 200]);
  const events = await openEvents(t, closed.url, 'incidents', { token: read?.key ?? '' });
  assert.equal(events.status, 200);
});

test('a task is created once for an incident, with a link to the incident', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, { ...disk, level: 'CRITICAL', message: `${'long '.repeat(60)}😀` });
  await waitForIncident(app, { task: null });
  const post = (headers = {}) =>
    app.request<Incident & { error: string }>('POST', '/api/incidents/1/task', { token, headers });
  assert.equal((await post({ 'If-Match': '"7"' })).status, 412);
  assert.equal((await app.request<{ total: number }>('GET', '/api/tasks')).json.total, 0);
  const answers = await Promise.all([post(), post()]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409]);
  const { json } = answers.find(({ status }) => status === 201) ?? {};
  const { json: task } = await app.request('GET', `/api/tasks/${json?.task}`);
  assert.match(String(task['Title']), /^#1 long long /);
  assert.match(String(task['Description']), /^Incident #1: \/api\/incidents\/1\nCRITICAL · disk · db-1\nSince /);
  assert.equal(task['Priority'], 'Critical');
  assert.equal((await post()).json.error, `Incident #1 already has task ${json?.task}`);
  assert.equal((await app.request<{ total: number }>('GET', '/api/tasks')).json.total, 1);
  assert.deepEqual(await listEvents(app, 1), ['opened', 'taskCreated']);
});

test('the topic `incidents` has each change, and metrics and status count the incidents', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const events = await openEvents(t, app.url, 'incidents');
  await sendAlert(app, disk);
  await events.waitFor('incidents');
  await sendAlert(app, disk);
  await events.waitFor('incidents', 2);
  const { json } = await app.request<{ problems: { text: string }[] }>('GET', '/api/status');
  assert.ok(json.problems.some(({ text }) => text === '1 error incident is open'));
  await app.request('POST', '/api/incidents/1/acknowledge', { token });
  await app.request('POST', '/api/incidents/1/resolve', { token });
  const all = (await events.waitFor('incidents', 4)).map(({ data }) => [data['state'], data['count'], data['version']]);
  assert.deepEqual(all, [
    ['open', 1, 1],
    ['open', 2, 1],
    ['acknowledged', 2, 2],
    ['resolved', 2, 3],
  ]);
  const { text } = await app.request('GET', '/metrics');
  for (const line of [
    'signalbox_incidents{state="resolved",level="ERROR"} 1',
    'signalbox_incidents{state="open",level="CRITICAL"} 0',
    'signalbox_incidents_opened_total 1',
    'signalbox_incidents_time_to_acknowledge_seconds_count 1',
    'signalbox_incidents_time_to_resolve_seconds_count 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});

test('texts of other people cannot change the Markdown of the report', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  await sendAlert(app, { ...disk, message: '# <b>[x](http://evil)|\n\u202e# y' });
  await waitForIncident(app, { state: 'open' });
  await app.request('POST', '/api/incidents/1/comment', {
    token,
    body: { comment: 'one\n# two\n===\n---\n- a\n1. b\n    c' },
  });
  const { status, headers, text } = await app.request('GET', '/api/incidents/1/report');
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/markdown; charset=utf-8');
  assert.match(text, /^# Incident #1: \\# \\<b\\>\\\[x\\\]\(http:\/\/evil\)\\\| +\\# y\n/);
  assert.match(text, /\|State\|open\|\n\|Level\|ERROR\|\n/);
  assert.match(
    text,
    /\n- \S+ \S+ \S+ \*\*opened\*\* ERROR by 127.0.0.1\n- \S+ \S+ \S+ \*\*comment\*\* by admin\n {2}> one\n {2}> \\# two\n {2}> \\===\n {2}> \\---\n {2}> \\- a\n {2}> 1\\. b\n {2}> c\n$/,
  );
});
