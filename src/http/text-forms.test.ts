import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { startApp } from '../../test/support/app.ts';
import { toLoggedPath, toTrace } from './text-forms.ts';

test('the logged path has no query and only printable ASCII', () => {
  assert.equal(toLoggedPath('/api/tasks?token=secret'), '/api/tasks');
  assert.equal(toLoggedPath('/a%20b/1'), '/a%20b/1');
  assert.equal(toLoggedPath('/a\u0085b\u001b[1m\t\u00ff'), '/a%85b%1b[1m%09%ff');
  assert.equal(toLoggedPath(''), '');
});

test('a token in a path is not logged', () => {
  assert.equal(toLoggedPath('/api/eyJhbGciOiJIUzI1NiJ9.eyJuYW1lIjoieCJ9.c2ln-bmF0dXJl/tasks'), '/api/(token)/tasks');
  assert.equal(toLoggedPath('/eyJhbGciOiJub25lIn0.e30.'), '/(token)');
  assert.equal(toLoggedPath('/api/acknowledge/ack_AbC-_9'), '/api/acknowledge/(token)');
});

test('a key in a path is not logged', () => {
  assert.equal(toLoggedPath(`/api/sbk_${'aB0'.repeat(14)}x/tasks`), '/api/(key)/tasks');
  assert.equal(toLoggedPath('/sbk_PATHKEY0123456789'), '/(key)');
});

test('secrets whose path or characters are encoded, also several times, are not logged', () => {
  const secret = 'Zb0Gq3lT1sX8vN5cR7yK2mW4pD6hJ9fA0uE1iO2tL3Q';
  for (const path of [
    ...[`/%6fncall/${secret}.ics`, `/ONCALL/${secret}.ics`, `/oncall/%5A${secret.slice(1)}.ics`, `/oncall//${secret}`],
    ...[`/oncall%2F${secret}.ics`, `/%256fncall/${secret}.ics`, `/%25256fncall/${secret}.ics`],
  ]) {
    assert.equal(toLoggedPath(path).toLowerCase().replace('//', '/'), '/oncall/(address)', path);
  }
  const uuid = '019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55';
  assert.equal(toLoggedPath(`/%70ing/${uuid}/fail`), '/ping/(address)/fail');
  assert.equal(toLoggedPath(`/pin%67/${uuid.replaceAll('-', '%2D')}`), '/ping/(address)');
  assert.equal(toLoggedPath('/api/acknowledge/%61ck_AbC-_9'), '/api/acknowledge/(token)');
  assert.equal(toLoggedPath('/api/%73bk_PATHKEY0123456789'), '/api/(key)');
  assert.equal(toLoggedPath('/api/%65yJhbGciOiJub25lIn0.e30.'), '/api/(token)');
  assert.equal(toLoggedPath('/a/1%253Fa=s'), '/a/1');
});

test('the query, the fragment, their encoded forms and credentials in a URL are not logged', () => {
  for (const rest of ['?a=s', '#a=s', '%3Fa=s', '%3fa=s', '%23a=s']) assert.equal(toLoggedPath(`/a/1${rest}`), '/a/1');
  assert.equal(toLoggedPath('http://admin:s@cret@localhost/api/tasks'), 'http://localhost/api/tasks');
  assert.equal(toLoggedPath('/a@b'), '/a@b');
});

const valid = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test('a valid traceparent is kept, and anything else is left out', () => {
  assert.deepEqual(toTrace({ traceparent: valid }), { traceparent: valid });
  for (const traceparent of [
    ...['', 'x', valid.toUpperCase(), `${valid} `, `ff${valid.slice(2)}`, `${valid}\n`, valid.slice(1)],
    ...[valid.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)), `${valid}, ${valid}`],
  ]) {
    assert.deepEqual(toTrace({ traceparent }), {}, traceparent);
  }
});

test('the log line of a request has its traceparent', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) });
  const { request } = await startApp(t, { log });
  await request('GET', '/api/tasks', { headers: { traceparent: valid } });
  await request('GET', '/api/tasks', { headers: { traceparent: 'forged\tline' } });
  const logged = lines.filter(({ msg }) => msg === 'request').map(({ traceparent }) => traceparent);
  assert.deepEqual(logged, [valid, undefined]);
});

test('the log line of a request has its duration in milliseconds', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) });
  const { request } = await startApp(t, { log });
  const began = performance.now();
  await request('POST', '/api/auth/login', { body: { Username: 'admin', Password: 'wrong' } });
  const longest = performance.now() - began;
  const ms = Number(lines.find(({ msg }) => msg === 'request')?.['ms']);
  // A password is being hashed at the same time.
  assert.ok(ms > 1 && ms <= longest, `${ms} of ${longest}`);
});
