import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRecords } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';

const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };

test('a form has the fields of the JSON body', async (t) => {
  const app = await startApp(t);
  const body =
    'source=nas&level=ERROR&message=disk+3+%26+4+failed&hostname=nas-1&key=disk&status=firing&labels.bay=3&x=y';
  const { status, json } = await app.request('POST', '/api/alert', { body, headers });
  assert.deepEqual([status, json['received']], [200, true]);
  const [record = {}] = await readRecords(app);
  const { source, level, message, hostname, fingerprint, labels, x } = record;
  assert.deepEqual(
    { source, level, message, hostname, fingerprint, labels, x },
    {
      source: 'nas',
      level: 'ERROR',
      message: 'disk 3 & 4 failed',
      hostname: 'nas-1',
      fingerprint: 'disk',
      labels: { bay: '3' },
      x: undefined,
    },
  );
});

test('a form without fields of an alert, or with empty fields only, gets 400, and nothing is stored', async (t) => {
  const app = await startApp(t);
  for (const body of ['x=y', 'not json', 'Title=x', '}', 'labels.a=b', 'message=', ' ', '{"message":', '"message=x"']) {
    const { status, json } = await app.request('POST', '/api/alert', { body, headers });
    assert.equal(status, 400, body);
    assert.deepEqual(Object.keys(json), ['error']);
  }
  assert.deepEqual((await app.request('GET', '/api/alerts')).json, { count: 0, data: [] });
});

test('a form is read only with the content type of forms, and JSON with this content type is read as JSON', async (t) => {
  const app = await startApp(t);
  for (const type of ['text/plain', 'application/json', 'multipart/form-data; boundary=x']) {
    const { status } = await app.request('POST', '/api/alert', {
      body: 'message=x',
      headers: { 'content-type': type },
    });
    assert.equal(status, 400, type);
  }
  assert.equal((await app.request('POST', '/api/alert', { body: ' {"message":"message=x"}', headers })).status, 200);
  assert.deepEqual(
    (await readRecords(app)).map(({ message }) => message),
    ['message=x'],
  );
});

test('a form from a page of another site gets 403, and a form without a token gets 401', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const token = await app.login('admin');
  const send = (more: object, options: object = {}) =>
    app.request('POST', '/api/alert', { body: 'message=x', headers: { ...headers, ...more }, ...options });
  assert.equal((await send({ 'sec-fetch-site': 'cross-site' }, { token })).status, 403);
  assert.equal((await send({ origin: 'https://evil.example' }, { token })).status, 403);
  assert.equal((await send({})).status, 401);
  assert.equal((await send({}, { token })).status, 200);
});
