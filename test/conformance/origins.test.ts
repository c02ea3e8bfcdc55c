import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';

const methods = 'GET,POST,PUT,DELETE';

test('with cors on, every response has the two headers: successes, errors and files', async (t) => {
  const { request } = await startApp(t, { settings: { cors: true } });
  for (const [method, path, status] of [
    ['GET', '/api/tasks', 200],
    ['GET', '/nope', 404],
    ['GET', '/api/items', 401],
    ['PATCH', '/api/tasks', 405],
    ['GET', '/api/tasks/%zz', 400],
    ['GET', '/docs/', 200],
    ['GET', '/docs/nope', 404],
    ['GET', '/', 302],
  ] as const) {
    const answer = await request(method, path, { headers: { origin: 'https://elsewhere.example' } });
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers['access-control-allow-origin'], '*', path);
    assert.equal(answer.headers['access-control-allow-methods'], methods, path);
  }
});

test('with cors on, every OPTIONS request gets 204 without a body', async (t) => {
  const { request } = await startApp(t, { settings: { cors: true } });
  for (const path of ['/api/tasks', '/api/items', '/simple/api/tasks', '/nope', '/docs/', '/']) {
    const { status, text, headers } = await request('OPTIONS', path);
    assert.deepEqual([status, text], [204, ''], path);
    assert.equal(headers['access-control-allow-origin'], '*', path);
    assert.equal(headers['access-control-allow-methods'], methods, path);
  }
});

test('a preflight lets browsers send Authorization and Content-Type', async (t) => {
  const { request } = await startApp(t, { settings: { cors: true } });
  const { headers } = await request('OPTIONS', '/api/items');
  assert.equal(headers['access-control-allow-headers'], 'Authorization, Content-Type');
});

test('cors is off by default: responses have no CORS header, and OPTIONS is treated like other methods', async (t) => {
  const { request } = await startApp(t);
  const { headers } = await request('GET', '/api/tasks');
  assert.equal(
    Object.keys(headers).some((name) => name.startsWith('access-control')),
    false,
  );
  assert.equal((await request('OPTIONS', '/api/tasks')).status, 405);
});

test('with cors off, a browser’s request for a foreign page gets 403 and changes nothing', async (t) => {
  const { request } = await startApp(t);
  for (const headers of [
    { origin: 'https://elsewhere.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:3000' },
    { origin: 'http://localhost:8080' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const { status, json } = await request('POST', '/api/tasks', { body: { Title: 'x' }, headers });
    assert.deepEqual([status, Object.keys(json)], [403, ['error']], JSON.stringify(headers));
  }
  assert.equal((await request('GET', '/api/tasks')).json['total'], 0);
});

test('a link on another site can open the pages, but not the API', async (t) => {
  const { request } = await startApp(t);
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  for (const [method, path, status] of [
    ['GET', '/docs/', 200],
    ['GET', '/docs', 302],
    ['GET', '/', 302],
    ['GET', '/docs/nope', 404],
    ['POST', '/docs/', 403],
    ['GET', '/api/tasks', 403],
    ['GET', '/health', 403],
    ['GET', '/openapi.json', 403],
  ] as const) {
    assert.equal((await request(method, path, { headers })).status, status, `${method} ${path}`);
  }
  const script = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
  assert.equal((await request('GET', '/docs/', { headers: script })).status, 403);
});

test('behind a proxy that changes Host, the 403 names Host and allowedHosts', async (t) => {
  const { request } = await startApp(t);
  const headers = { origin: 'https://box.example', 'sec-fetch-site': 'same-origin' };
  const { status, json } = await request('POST', '/api/tasks', { body: { Title: 'x' }, headers });
  assert.equal(status, 403);
  assert.match(String(json['error']), /\bHost\b.*\ballowedHosts\b/);
  assert.doesNotMatch(String(json['error']), /cors/);
});

test('with cors off, the service’s own pages and clients other than browsers are served', async (t) => {
  const { request, url } = await startApp(t);
  for (const headers of [
    { origin: url, 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { host: 'LOCALHOST:80', origin: 'http://localhost' },
    {},
  ]) {
    assert.equal((await request('GET', '/api/tasks', { headers })).status, 200, JSON.stringify(headers));
  }
});

test('a server bound to loopback serves loopback names and this machine’s name only', async (t) => {
  const { request } = await startApp(t);
  for (const host of ['localhost', 'LocalHost:8080', '127.0.0.1', '127.1.2.3:1', '[::1]', '[::1]:8080', hostname()]) {
    assert.equal((await request('GET', '/health', { headers: { host } })).status, 200, host);
  }
  for (const host of ['elsewhere.example', 'localhost.elsewhere.example', '10.0.0.1', '[::2]', '127.0.0.1.example']) {
    const { status, json } = await request('GET', '/health', { headers: { host } });
    assert.deepEqual([status, Object.keys(json)], [403, ['error']], host);
  }
});

test('allowedHosts adds names to the loopback names', async (t) => {
  const { request } = await startApp(t, { settings: { allowedHosts: ['Box.Example', '2001:db8::5'] } });
  for (const host of ['box.example:8080', 'BOX.example.', '[2001:db8::5]:80', 'localhost']) {
    assert.equal((await request('GET', '/health', { headers: { host } })).status, 200, host);
  }
  assert.equal((await request('GET', '/health', { headers: { host: 'other.example' } })).status, 403);
});

test('a server bound beyond loopback serves all names, or those that allowedHosts lists', async (t) => {
  const open = await startApp(t, { settings: { host: '0.0.0.0' } });
  assert.equal((await open.request('GET', '/health', { headers: { host: 'any.example' } })).status, 200);
  const listed = await startApp(t, { settings: { host: '0.0.0.0', allowedHosts: ['box.example'] } });
  assert.equal((await listed.request('GET', '/health', { headers: { host: 'box.example' } })).status, 200);
  for (const host of ['any.example', 'localhost']) {
    assert.equal((await listed.request('GET', '/health', { headers: { host } })).status, 403, host);
  }
});
