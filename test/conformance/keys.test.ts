import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import type { Scope } from '../../src/auth/rights.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { assertJson, assertUnauthorized } from './support/assertions.ts';

const create = (...scopes: Scope[]) => createAccessKey(scopes.join(' '), scopes);
const writer = create('alerts:write');
const reader = create('alerts:read');
const scraper = create('metrics:read');
const both = create('alerts:write', 'alerts:read');
const all = [writer, reader, scraper, both];

const start = (t: TestContext, settings = {}): Promise<TestApp> =>
  startApp(t, { settings: { alertsAuth: 'bearer', keys: all.map(({ entry }) => entry), ...settings } });

const write = (app: TestApp, token: string) =>
  app.request('POST', '/api/alert', { headers: { authorization: token }, body: { message: 'a' } });

const read = (app: TestApp, token: string) => app.request('GET', '/api/alerts', { headers: { authorization: token } });

test('a key opens the routes of its scopes, with or without `Bearer`', async (t) => {
  const app = await start(t);
  for (const { key } of [writer, both]) {
    assertJson(await write(app, `Bearer ${key}`), 200);
    assertJson(await write(app, key), 200);
  }
  for (const { key } of [reader, both]) assertJson(await read(app, `Bearer ${key}`), 200);
});

test('a key with alerts:read opens every route that reads alerts', async (t) => {
  const app = await start(t);
  const { id } = (await write(app, writer.key)).json as { id: string };
  for (const path of ['search', 'histogram', id]) {
    const send = (key: string) =>
      app.request('GET', `/api/alerts/${path}`, { headers: { authorization: `Bearer ${key}` } });
    assertJson(await send(reader.key), 200);
    const refused = await send(writer.key);
    assert.deepEqual([refused.status, refused.json], [403, { error: 'This key lacks the scope alerts:read' }]);
  }
});

test('on every other route a key is refused like a token without three parts', async (t) => {
  const app = await start(t);
  for (const { key } of [reader, scraper])
    assertUnauthorized(await write(app, `Bearer ${key}`), 'Invalid token format');
  for (const { key } of [writer, scraper]) assertUnauthorized(await read(app, `Bearer ${key}`), 'Invalid token format');
  for (const { key } of all) {
    for (const path of ['/api/items', '/protected/api/tasks']) {
      const response = await app.request('GET', path, { headers: { authorization: `Bearer ${key}` } });
      assertUnauthorized(response, 'Invalid token format');
    }
    const body = { command: 'Get-Date' };
    const response = await app.request('POST', '/api/execute', { headers: { authorization: `Bearer ${key}` }, body });
    assertUnauthorized(response, 'Invalid token format');
  }
});

test('only the whole key in the header is accepted, not its hash, its parts or another case', async (t) => {
  const app = await start(t);
  const { key, entry } = both;
  const altered = key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const others = [
    ...[entry.sha256, `sbk_${entry.sha256}`, key.slice(4), `sbk_${key}`, `${key}0`, key.slice(0, -1), altered],
    ...[
      key.toUpperCase(),
      key.replace('sbk_', 'SBK_'),
      key.replace('sbk_', 'sbk-'),
      'sbk_',
      `${key},${key}`,
      `"${key}"`,
    ],
    ...[create('alerts:write').key, `sbk_${randomBytes(32).toString('hex')}`, `${key} ${key}`],
  ];
  for (const other of others) assertUnauthorized(await write(app, `Bearer ${other}`), /./);
  assertUnauthorized(await write(app, `Basic ${key}`), /./);
  assertUnauthorized(await app.request('GET', `/api/alerts?key=${key}&access_token=${key}`), 'Missing token');
  assertUnauthorized(await app.request('GET', '/api/alerts', { headers: { 'x-api-key': key } }), 'Missing token');
  assertUnauthorized(await write(app, ''), 'Missing token');
});

test('tokens open the routes of keys, too, and a token that contains a key is an invalid token', async (t) => {
  const app = await start(t);
  const token = signToken(createClaims());
  assertJson(await write(app, `Bearer ${token}`), 200);
  assertJson(await read(app, `Bearer ${token}`), 200);
  assertUnauthorized(await write(app, `Bearer ${both.key}.${both.key}.${both.key}`), /^Token validation failed: ./);
  assertUnauthorized(await write(app, `Bearer ${signToken(createClaims({ iat: 0, exp: 1 }))}`), 'Token expired');
});

test('without keys, no text with the form of a key is accepted', async (t) => {
  const app = await start(t, { keys: [] });
  for (const { key } of all) assertUnauthorized(await write(app, `Bearer ${key}`), 'Invalid token format');
});

test('a key has 256 random bits in base 62, and the settings contain its SHA-256', () => {
  const keys = Array.from({ length: 100 }, () => create('alerts:write'));
  assert.equal(new Set(keys.map(({ key }) => key)).size, 100);
  for (const { key, entry } of keys) {
    assert.match(key, /^sbk_[0-9A-Za-z]{43}$/);
    assert.equal(entry.sha256, createHash('sha256').update(key).digest('hex'));
  }
});
