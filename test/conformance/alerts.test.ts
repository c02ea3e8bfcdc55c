import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';

interface Alert {
  timestamp: string;
  source: string;
  level: string;
  message: string;
  hostname: string;
  receivedAt: string;
}

const disk = { source: 'disk', level: 'ERROR', message: 'sda1 is full', hostname: 'web-1' };

const send = ({ request }: TestApp, body: unknown) => request('POST', '/api/alert', { body });

const list = async ({ request }: TestApp, query = ''): Promise<Alert[]> => {
  const { status, json } = await request<{ count: number; data: Alert[] }>('GET', `/api/alerts${query}`);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ['count', 'data']);
  assert.equal(json.count, json.data.length);
  return json.data;
};

const sendNumbered = async (app: TestApp, count: number): Promise<void> => {
  for (let index = 1; index <= count; index++) {
    await send(app, { message: String(index), level: index % 2 === 0 ? 'even' : 'odd' });
  }
};

test('POST /api/alert returns received true and a GUID', async (t) => {
  const app = await startApp(t);
  const { status, json } = await send(app, disk);
  assert.deepEqual([status, Object.keys(json), json['received']], [200, ['received', 'id'], true]);
  assert.match(String(json['id']), /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
});

test('an alert is appended to a log file as one line of JSON with its id', async (t) => {
  const app = await startApp(t);
  const ids = [(await send(app, disk)).json['id'], (await send(app, { message: 'second' })).json['id']];
  const lines = readFileSync(join(app.folder, 'data', 'alerts.jsonl'), 'utf8')
    .trim()
    .split('\n');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).id),
    ids,
  );
  assert.equal(JSON.parse(lines[0] ?? '').message, 'sda1 is full');
});

test('GET /api/alerts returns count and data, and an empty list if nothing is stored', async (t) => {
  const app = await startApp(t);
  const { text, headers } = await app.request('GET', '/api/alerts');
  assert.equal(text, '{"count":0,"data":[]}');
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  await send(app, disk);
  assert.equal((await list(app)).length, 1);
});

test('without count the list contains the last ten alerts', async (t) => {
  const app = await startApp(t);
  await sendNumbered(app, 12);
  assert.deepEqual(
    (await list(app)).map(({ message }) => message),
    '3 4 5 6 7 8 9 10 11 12'.split(' '),
  );
  assert.deepEqual(
    (await list(app, '?count=2')).map(({ message }) => message),
    ['11', '12'],
  );
  assert.deepEqual(await list(app, '?count=0'), []);
  assert.equal((await list(app, '?count=&other=1')).length, 10);
});

test('level matches exactly, and filters only the last count records of the log', async (t) => {
  const app = await startApp(t);
  await sendNumbered(app, 6);
  assert.deepEqual(
    (await list(app, '?count=3&level=even')).map(({ message }) => message),
    ['4', '6'],
  );
  assert.deepEqual(await list(app, '?count=1&level=odd'), []);
  assert.deepEqual(await list(app, '?level=EVEN'), []);
  assert.equal((await list(app, '?level=')).length, 6);
});

test('alerts are listed after a restart', async (t) => {
  const first = await startApp(t, { settings: { profiles: ['X'] } });
  await send(first, disk);
  await first.close();
  const dataDir = join(first.folder, 'data');
  const second = await startApp(t, { settings: { profiles: ['X'], dataDir } });
  assert.deepEqual(
    (await list(second)).map(({ message }) => message),
    ['sda1 is full'],
  );
});

test('a count that is not a plain whole number, or is repeated, gets 400, which names the parameter', async (t) => {
  const { request } = await startApp(t);
  for (const query of ['count=-1', 'count=1.5', 'count=ten', 'count=1&count=2', 'count=0x10']) {
    const { status, json } = await request<{ error: string }>('GET', `/api/alerts?${query}`);
    assert.equal(status, 400, query);
    assert.match(json.error, /^count /, query);
  }
});

test('a count above 10,000 gets 400, and 10,000 is accepted', async (t) => {
  const { request } = await startApp(t);
  assert.equal((await request('GET', '/api/alerts?count=10000')).status, 200);
  const { status, json } = await request('GET', '/api/alerts?count=10001');
  assert.deepEqual([status, json], [400, { error: 'count must be at most 10000' }]);
});

test('missing and null fields are stored as empty strings', async (t) => {
  const app = await startApp(t);
  await send(app, { message: 'only this', source: null });
  const [alert] = await list(app);
  assert.deepEqual([alert?.source, alert?.level, alert?.hostname, alert?.message], ['', '', '', 'only this']);
});

test('an alert without a non-empty field gets 400 and is not stored', async (t) => {
  const app = await startApp(t);
  for (const body of [{}, { message: '' }, { source: null, level: '' }, { severity: 'high' }]) {
    const { status, json } = await send(app, body);
    assert.deepEqual([status, Object.keys(json)], [400, ['error']], JSON.stringify(body));
  }
  assert.deepEqual(await list(app), []);
});

test('timestamp and receivedAt are the local time of receipt', async (t) => {
  const app = await startApp(t);
  await send(app, { ...disk, timestamp: '1999-01-01T00:00:00', receivedAt: '00:00:00' });
  const [alert] = await list(app);
  assert.match(alert?.timestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.equal(alert?.receivedAt, alert?.timestamp.slice(11));
  assert.ok(Math.abs(new Date(alert?.timestamp ?? '').getTime() - Date.now()) < 5000);
});

test('records are listed oldest first with exactly the six fields, in order', async (t) => {
  const app = await startApp(t);
  await send(app, { ...disk, extra: 1 });
  await send(app, { message: 'later' });
  const alerts = await list(app);
  assert.deepEqual(
    alerts.map(({ message }) => message),
    ['sda1 is full', 'later'],
  );
  const fields = ['timestamp', 'source', 'level', 'message', 'hostname', 'receivedAt'];
  for (const alert of alerts) assert.deepEqual(Object.keys(alert), fields);
});

test('a field of an alert that is not a string gets 400, which names the field, and stores nothing', async (t) => {
  const app = await startApp(t);
  for (const value of [1, true, [], {}]) {
    const { status, json } = await send(app, { ...disk, level: value });
    assert.deepEqual([status, json], [400, { error: 'level must be a string' }]);
  }
  assert.deepEqual(await list(app), []);
});

test('intake and listing are open by default, and alertsAuth bearer protects both', async (t) => {
  const app = await startApp(t, { settings: { alertsAuth: 'bearer' } });
  assert.equal((await send(app, disk)).status, 401);
  assert.equal((await app.request('GET', '/api/alerts')).status, 401);
  assert.equal((await app.request('GET', '/ready')).status, 200);
  const token = await app.login('reader');
  assert.equal((await app.request('POST', '/api/alert', { body: disk, token })).status, 200);
  assert.equal((await app.request('GET', '/api/alerts', { token })).status, 200);
});
