import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readRecords } from '../../../../test/support/alerts.ts';
import { startApp } from '../../../../test/support/app.ts';

const path = '/api/alert/plain-text';

test('a plain text of any content type is the message of an alert, whose other fields are in the query', async (t) => {
  const app = await startApp(t);
  const query = '?source=nas&level=ERROR&hostname=nas-1&key=disk%203&message=ignored&x=y';
  for (const type of ['text/plain; charset=utf-8', 'application/x-www-form-urlencoded', 'application/json']) {
    const body = `disk 3 & 4 failed\nsince 09:30 — ${type}\n`;
    const { status, json } = await app.request('POST', `${path}${query}`, { body, headers: { 'content-type': type } });
    assert.deepEqual([status, json['received']], [200, true], type);
  }
  const [record = {}] = await readRecords(app);
  const { source, level, message, hostname, fingerprint, x } = record;
  assert.deepEqual(
    { source, level, message, hostname, fingerprint, x },
    {
      source: 'nas',
      level: 'ERROR',
      hostname: 'nas-1',
      fingerprint: 'disk 3',
      x: undefined,
      message: 'disk 3 & 4 failed\nsince 09:30 — text/plain; charset=utf-8',
    },
  );
});

test('a compressed plain text is stored once for an Idempotency-Key', async (t) => {
  const app = await startApp(t);
  const headers = { 'content-encoding': 'gzip', 'idempotency-key': 'a' };
  for (const _ of [1, 2]) {
    const { status } = await app.request('POST', path, { body: gzipSync('the disk is full'), headers });
    assert.equal(status, 200);
  }
  assert.deepEqual(
    (await readRecords(app)).map(({ message }) => message),
    ['the disk is full'],
  );
});

test('an empty body, bytes that are not text and a repeated field get 400, and nothing is stored', async (t) => {
  const app = await startApp(t);
  for (const [query, body] of [
    ['', ''],
    ['', ' \n'],
    ['', Buffer.from([0xff, 0xfe, 0x00])],
    ['?source=a&source=b', 'text'],
  ] as const) {
    const { status, json } = await app.request('POST', `${path}${query}`, { body });
    assert.deepEqual([status, Object.keys(json)], [400, ['error']], query);
  }
  assert.deepEqual((await app.request('GET', '/api/alerts')).json, { count: 0, data: [] });
});

test('with access login, a plain text without a key gets 401', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  assert.equal((await app.request('POST', path, { body: 'text' })).status, 401);
});
