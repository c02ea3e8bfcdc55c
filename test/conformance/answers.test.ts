import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFor } from '../../src/auth/access.ts';
import { defineFeature } from '../../src/kit/feature.ts';
import { defineRoute } from '../../src/kit/route.ts';
import { startApp } from '../support/app.ts';

const json = 'application/json; charset=utf-8';

test('every API response with a body has the type application/json; charset=utf-8', async (t) => {
  const { request } = await startApp(t);
  const paths = ['/health', '/api/health', '/api/info', '/api/processes', '/api/disks', '/api/tasks', '/api/alerts'];
  for (const path of [...paths, '/simple/api/tasks', '/openapi.json']) {
    const { status, headers } = await request('GET', path);
    assert.deepEqual([status, headers['content-type']], [200, json], path);
  }
});

test('every response forbids content sniffing and referrers, and API responses are not cached', async (t) => {
  const { request } = await startApp(t);
  for (const [method, path, status] of [
    ['GET', '/api/tasks', 200],
    ['GET', '/', 302],
    ['GET', '/openapi.json', 200],
    ['GET', '/docs/nope', 404],
    ['GET', '/api/tasks/%zz', 400],
    ['GET', '/api/items', 401],
    ['PATCH', '/api/tasks', 405],
    ['POST', '/api/tasks', 400],
  ] as const) {
    const { status: got, headers } = await request(method, path);
    const names = ['x-content-type-options', 'referrer-policy', 'cache-control'];
    assert.deepEqual(
      [got, ...names.map((name) => headers[name])],
      [status, 'nosniff', 'no-referrer', 'no-store'],
      path,
    );
  }
});

test('a known path with another method gets 405 with Allow', async (t) => {
  const { request } = await startApp(t);
  const cases = [
    ['PATCH', '/api/tasks', 'GET, HEAD, POST'],
    ['PROPFIND', '/api/tasks', 'GET, HEAD, POST'],
    ['POST', '/api/tasks/1', 'GET, HEAD, PUT, DELETE'],
    ['OPTIONS', '/api/items', 'GET, HEAD, POST'],
    ['GET', '/api/alert', 'POST'],
    ['DELETE', '/health', 'GET, HEAD'],
    ['POST', '/docs/', 'GET, HEAD'],
    ['PUT', '/openapi.json', 'GET, HEAD'],
    ['DELETE', '/api/%74asks', 'GET, HEAD, POST'],
  ] as const;
  for (const [method, path, allow] of cases) {
    const { status, headers, json: body } = await request(method, path, { body: '{' });
    assert.deepEqual([status, body], [405, { error: 'Method not allowed' }], `${method} ${path}`);
    assert.deepEqual(String(headers['allow']).split(', ').sort(), allow.split(', ').sort(), path);
  }
});

test('HEAD returns the headers of GET, without the body', async (t) => {
  const { request } = await startApp(t);
  await request('POST', '/api/tasks', { body: { Title: 'one' } });
  for (const path of ['/health', '/api/tasks', '/api/tasks/1', '/api/disks', '/docs/']) {
    const head = await request('HEAD', path);
    const get = await request('GET', path);
    assert.deepEqual([head.status, head.text], [200, ''], path);
    assert.equal(head.headers['content-type'], get.headers['content-type'], path);
  }
  assert.equal((await request('HEAD', '/api/tasks/2')).status, 404);
});

test('simple tasks answer HEAD and other methods like unknown routes: 404', async (t) => {
  const { request } = await startApp(t);
  for (const [method, path] of [
    ['HEAD', '/simple/api/tasks'],
    ['PUT', '/simple/api/tasks'],
    ['DELETE', '/simple/api/tasks/1'],
    ['OPTIONS', '/simple/api/tasks/'],
  ] as const) {
    const { status, headers } = await request(method, path);
    assert.deepEqual([status, 'allow' in headers], [404, false], `${method} ${path}`);
  }
});

test('an unknown route gets 404 with a JSON error, with any body', async (t) => {
  const { request } = await startApp(t);
  for (const path of ['/nope', '/api', '/api/', '/api/tasks/1/2', '/protected', '/docs/nope.html', '/API/TASKS']) {
    const { status, headers, json: body } = await request('GET', path);
    assert.deepEqual([status, headers['content-type'], body], [404, json, { error: 'Not found' }], path);
  }
  assert.equal((await request('POST', '/nope', { body: 'not json' })).status, 404);
});

test('a path that cannot be decoded gets 400 with a JSON error', async (t) => {
  const { request } = await startApp(t);
  const { status, headers, json: body } = await request('GET', '/api/tasks/%zz');
  assert.deepEqual([status, headers['content-type']], [400, json]);
  assert.deepEqual(body, { error: 'The path of the request is not valid percent-encoding' });
});

test('an unexpected error gets 500 with the request’s id and no internals', async (t) => {
  const { request } = await startApp(t, { features: [failing], settings: { profiles: ['failing'] } });
  const { status, headers, text, json: body } = await request<{ requestId: string }>('GET', '/api/fails');
  assert.deepEqual([status, headers['content-type']], [500, json]);
  assert.deepEqual(body, { error: 'Internal server error', requestId: body.requestId });
  assert.match(body.requestId, /^req-/);
  assert.doesNotMatch(text, /disk on fire/);
});

/** Feature whose route throws. */
const failing = defineFeature({
  name: 'failing',
  profiles: [{ name: 'failing', summary: 'always fails' }],
  settings: {},
  create: () => ({
    profiles: {
      failing: [
        defineRoute({
          method: 'GET',
          path: '/api/fails',
          ...openFor('machine:read'),
          summary: 'Fail',
          schema: {},
          handler: async () => {
            throw new Error('the disk on fire');
          },
        }),
      ],
    },
  }),
});
