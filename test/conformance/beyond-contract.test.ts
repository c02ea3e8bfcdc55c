import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';

/** Smallest Alertmanager webhook that its format allows. */
const foreign = {
  version: '4',
  receiver: 'desk',
  status: 'firing',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'DiskFull' },
      annotations: { summary: 'disk full' },
      startsAt: '2026-01-31T10:00:00Z',
    },
  ],
};

const taskFields = { Title: 'Replace the disk', Priority: 'High' };

const send = ({ request }: TestApp, body: unknown) => request('POST', '/api/alert', { body });

const search = async ({ request }: TestApp): Promise<Record<string, unknown>[]> =>
  (await request<{ data: Record<string, unknown>[] }>('GET', '/api/alerts/search')).json.data;

test('alerts of other programs have their own routes, and POST /api/alert accepts no foreign format', async (t) => {
  const app = await startApp(t);
  assert.equal((await app.request('POST', '/api/alert/alertmanager', { body: foreign })).status, 200);
  assert.equal((await send(app, foreign)).status, 400);
  assert.deepEqual(
    (await search(app)).map(({ message }) => message),
    ['disk full'],
  );
});

test('without the request headers, validators change neither status nor body', async (t) => {
  const { request } = await startApp(t);
  const body = { ...taskFields };
  const first = await request('POST', '/api/tasks', { body });
  const second = await request('POST', '/api/tasks', { body });
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.notEqual(first.json['Id'], second.json['Id']);
  const path = `/api/tasks/${first.json['Id']}`;
  const plain = await request('GET', path);
  const { etag = '' } = plain.headers;
  assert.match(etag, /^"/);
  assert.equal((await request('PUT', path, { body: { ...body, Title: 'a' } })).status, 200);
  assert.equal((await request('PUT', path, { body: { ...body, Title: 'b' } })).status, 200);
  const conditional = await request('PUT', path, { body, headers: { 'if-match': etag } });
  assert.equal(conditional.status, 412);
  assert.equal((await request('GET', path)).json['Title'], 'b');
});

test('tasks are in memory by default, and a restart with a file store keeps them', async (t) => {
  for (const [store, status] of [
    [undefined, 404],
    ['file', 200],
  ] as const) {
    const settings = { store: store ?? 'memory', adminPassword: 'correct horse' };
    const first = await startApp(t, { settings });
    const { Id } = (await first.request('POST', '/api/tasks', { body: taskFields })).json;
    await first.close();
    const second = await startApp(t, { settings: { ...settings, dataDir: join(first.folder, 'data') } });
    assert.equal((await second.request('GET', `/api/tasks/${Id}`)).status, status, String(store));
  }
});

test('routes beyond the contract return numbers, and times with an offset; routes of the contract keep formatted texts', async (t) => {
  const { request } = await startApp(t);
  const { text } = await request('GET', '/metrics');
  assert.match(text, /^process_start_time_seconds \d+(\.\d+)?$/m);
  const history = (await request('GET', '/api/history')).text;
  assert.match(history, /T[\d:.]+(Z|[+-]\d\d:\d\d)"/);
  const health = (await request('GET', '/api/health')).json;
  assert.match(String(health['cpuUsage']), /^\d+%$/);
});

test('/docs/ and /console/ are two folders of pages, each with its own policy', async (t) => {
  const { request } = await startApp(t);
  const [docs, console] = [await request('GET', '/docs/'), await request('GET', '/console/')];
  for (const { status, headers } of [docs, console]) {
    assert.equal(status, 200);
    assert.match(headers['content-security-policy'] ?? '', /^default-src 'self';/);
  }
  assert.notEqual(docs.text, console.text);
  assert.doesNotMatch(console.headers['content-security-policy'] ?? '', /unsafe/);
});

test('the level stays as sent, and its severity is shown everywhere beyond the contract', async (t) => {
  const app = await startApp(t);
  await send(app, { message: 'a', level: 'emerg' });
  const { text } = await app.request('GET', '/api/alerts');
  assert.match(text, /"level":"emerg"/);
  assert.doesNotMatch(text, /severity|CRITICAL/);
  const [found] = await search(app);
  assert.deepEqual([found?.['level'], found?.['severity']], ['emerg', 'CRITICAL']);
});

test('by default the routes of the contract are open; access login closes them, and so do former settings', async (t) => {
  const count = async (settings: Record<string, unknown>): Promise<number[]> => {
    const app = await startApp(t, { settings });
    const read = (await app.request('GET', '/api/alerts')).status;
    const write = (await send(app, { message: 'a' })).status;
    return [read, write, (await app.request('GET', '/api/tasks')).status];
  };
  assert.deepEqual(await count({}), [200, 200, 200]);
  assert.deepEqual(await count({ access: 'login' }), [401, 401, 401]);
  assert.deepEqual(await count({ alertsAuth: 'bearer' }), [401, 401, 200]);
});

test('key, status, labels and link change neither the response nor the listing, and a wrong type in them gets 400', async (t) => {
  const app = await startApp(t);
  const more = { key: 'disk', status: 'firing', labels: { disk: 'sda1' }, link: 'https://desk.example/1' };
  const { status, json } = await send(app, { message: 'a', ...more });
  assert.deepEqual([status, Object.keys(json)], [200, ['received', 'id']]);
  const { data } = (await app.request<{ data: object[] }>('GET', '/api/alerts')).json;
  assert.deepEqual(Object.keys(data[0] ?? {}), ['timestamp', 'source', 'level', 'message', 'hostname', 'receivedAt']);
  for (const wrong of [{ key: 1 }, { status: [] }, { labels: 'a' }, { link: {} }]) {
    assert.equal((await send(app, { message: 'b', ...wrong })).status, 400, JSON.stringify(wrong));
  }
  assert.equal((await search(app)).length, 1);
});
