import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownSession } from '../../src/features/accounts/schema.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { createClaims, readPart, signToken } from '../support/tokens.ts';

const list = async (app: TestApp, token: string): Promise<ShownSession[]> =>
  (await app.request<{ data: ShownSession[] }>('GET', '/api/sessions', { token })).json.data;

const renew = (app: TestApp, token: string) => app.request('POST', '/api/sessions/renew', { token });

const now = (): number => Math.floor(Date.now() / 1000);

test('a token is exchanged for another token of its session, also with access login', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const token = await app.login('reader');
  const [begun] = await list(app, token);
  const renewed = await renew(app, token);
  assert.equal(renewed.status, 200);
  const next = String(renewed.json['token']);
  const claims = readPart(next, 1);
  assert.deepEqual(
    [claims['sub'], claims['role'], Number(claims['exp']) - Number(claims['iat'])],
    ['reader', 'Reader', 3600],
  );
  assert.deepEqual(
    [renewed.json['tokenType'], renewed.json['expiresIn'], renewed.json['role']],
    ['Bearer', 3600, 'Reader'],
  );
  const again = String((await renew(app, next)).json['token']);
  const sessions = await list(app, again);
  assert.deepEqual(
    sessions.map(({ id, startedAt, isCurrent }) => [id, startedAt, isCurrent]),
    [[begun?.id, begun?.startedAt, true]],
  );
  assert.equal((await app.request('GET', '/api/items', { token: again })).status, 200);
});

test('a session older than 30 days, a token of another program and an invalid token are not renewed', async (t) => {
  const app = await startApp(t);
  const old = { sub: 'admin', role: 'Admin', sid: 'x' };
  const sign = (changes: object) => signToken(createClaims({ ...old, ...changes }));
  assert.equal((await renew(app, sign({ auth_time: now() - 30 * 24 * 3600 + 60 }))).status, 200);
  assert.equal((await renew(app, sign({ auth_time: now() - 30 * 24 * 3600 - 60 }))).status, 401);
  assert.equal((await renew(app, sign({ sub: 'robot' }))).status, 409);
  assert.equal((await renew(app, sign({ role: 'Reader' }))).status, 401);
  assert.equal((await renew(app, sign({ exp: now() - 1, iat: now() - 3601 }))).status, 401);
  assert.equal((await app.request('POST', '/api/sessions/renew')).status, 401);
});

test('a token of another program with an impossible login time is a session of its own', async (t) => {
  const app = await startApp(t);
  for (const auth_time of [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, now() + 3600]) {
    const token = signToken(createClaims({ sub: 'admin', sid: 'x', auth_time }));
    const current = (await list(app, token)).find(({ isCurrent }) => isCurrent);
    assert.ok(current && current.id !== 'x' && Date.parse(current.startedAt) <= Date.now());
  }
});

test('users see only their own sessions, and log out everywhere, with their streams', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const tokens = [await app.login('reader'), await app.login('reader')];
  const other = await app.login('admin');
  const [first = '', second = ''] = tokens;
  const stream = await openEvents(t, app.url, 'tasks', { token: second });
  await stream.waitFor('hello');
  // A user gets only one token per second.
  assert.ok((await list(app, first)).every(({ address, id }) => address === '127.0.0.1' && id !== ''));
  const ended = await app.request('DELETE', '/api/sessions', { token: first });
  assert.equal(ended.status, 200);
  await stream.ended;
  for (const token of tokens) assert.equal((await app.request('GET', '/api/items', { token })).status, 401);
  assert.equal((await app.request('GET', '/api/items', { token: other })).status, 200);
  const next = await app.login('reader');
  assert.deepEqual(
    (await list(app, next)).map(({ isCurrent }) => isCurrent),
    [true],
  );
  const { json } = await app.request<{ data: Record<string, string>[] }>('GET', '/api/audit', { token: other });
  assert.deepEqual(
    json.data.map(({ by, kind, name }) => [by, kind, name]),
    [['reader', 'session-end', 'reader']],
  );
  await app.close();
  const again = await startApp(t, { settings: { access: 'login', dataDir: `${app.folder}/data` } });
  for (const token of tokens) assert.equal((await again.request('GET', '/api/items', { token })).status, 401);
  assert.equal((await again.request('GET', '/api/items', { token: next })).status, 200);
});
