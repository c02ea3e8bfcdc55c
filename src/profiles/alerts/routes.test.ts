import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startApp } from '../../../test/support/app.ts';
import { type AlertPage, disk, fileOf, listMessages, sendAlert } from './test-alerts.ts';

test('an alert is answered with an id, stored as one line, and listed with exactly its six fields', async (t) => {
  const app = await startApp(t);
  const { json } = await app.request('POST', '/api/alert', { body: { ...disk, other: 1, hostname: null } });
  assert.deepEqual(Object.keys(json), ['received', 'id']);
  assert.equal(json['received'], true);
  const line = JSON.parse(await readFile(fileOf(app), 'utf8'));
  const six = ['timestamp', 'source', 'level', 'message', 'hostname', 'receivedAt'];
  assert.deepEqual(Object.keys(line), [...six, 'id', 'seq', 'crc']);
  assert.equal(line.id, json['id']);
  const list = await app.request<AlertPage>('GET', '/api/alerts');
  assert.equal(list.headers['content-type'], 'application/json; charset=utf-8');
  const [alert = {}] = list.json.data;
  assert.deepEqual(Object.keys(alert), six);
  assert.deepEqual(
    { ...alert, timestamp: '', receivedAt: '' },
    { ...disk, hostname: '', timestamp: '', receivedAt: '' },
  );
  assert.match(String(alert['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  assert.equal(alert['receivedAt'], alert['timestamp']?.slice(11));
});

test('without alerts the list is empty', async (t) => {
  const app = await startApp(t);
  assert.equal((await app.request('GET', '/api/alerts')).text, '{"count":0,"data":[]}');
});

test('the window is taken first, then filtered by level; both are oldest first', async (t) => {
  const app = await startApp(t);
  for (let n = 1; n <= 12; n += 1) {
    await sendAlert(app, { message: String(n), level: n % 2 === 0 ? 'INFO' : 'ERROR' });
  }
  assert.deepEqual(await listMessages(app), ['3', '4', '5', '6', '7', '8', '9', '10', '11', '12']);
  assert.deepEqual(await listMessages(app, '?count=3'), ['10', '11', '12']);
  assert.deepEqual(await listMessages(app, '?count=3&level=INFO'), ['10', '12']);
  assert.deepEqual(await listMessages(app, '?count=&level='), await listMessages(app));
  assert.deepEqual(await listMessages(app, '?level=info&other=1'), []);
  assert.deepEqual(await listMessages(app, '?count=0'), []);
});

for (const [body, message] of [
  [{}, /At least one/],
  [{ source: '', level: '', message: null }, /At least one/],
  [{ ...disk, level: 5 }, /level/],
  [{ ...disk, message: ['x'] }, /message/],
  ['[]', /object/],
  ['', /required/],
  ['{', /JSON/],
] as const) {
  test(`the body ${JSON.stringify(body)} is refused and not stored`, async (t) => {
    const app = await startApp(t);
    const { status, json } = await app.request('POST', '/api/alert', { body });
    assert.equal(status, 400);
    assert.match(String(json['error']), message);
    assert.equal(await readFile(fileOf(app), 'utf8'), '');
  });
}

test('a count that is no whole number up to 10,000 is refused by name', async (t) => {
  const app = await startApp(t);
  for (const query of ['count=10001', 'count=-1', 'count=1.5', 'count=x', 'count=1&count=2']) {
    const { status, json } = await app.request('GET', `/api/alerts?${query}`);
    assert.equal(status, 400, query);
    assert.match(String(json['error']), /count/);
  }
  assert.deepEqual(await listMessages(app, '?count=10000'), []);
});

test('with alertsAuth bearer both routes need a token, readiness does not', async (t) => {
  const app = await startApp(t, { settings: { alertsAuth: 'bearer' } });
  assert.equal((await app.request('POST', '/api/alert', { body: disk })).status, 401);
  assert.equal((await app.request('GET', '/api/alerts')).status, 401);
  assert.equal((await app.request('GET', '/ready')).status, 200);
  const token = await app.login('reader');
  assert.equal((await app.request('POST', '/api/alert', { body: disk, token })).status, 200);
  assert.equal((await app.request('GET', '/api/alerts', { token })).status, 200);
});
