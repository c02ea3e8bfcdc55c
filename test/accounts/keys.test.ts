import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import type { ShownKey } from '../../src/features/accounts/schema.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';

const list = async (app: TestApp, token: string): Promise<ShownKey[]> =>
  (await app.request<{ data: ShownKey[] }>('GET', '/api/keys', { token })).json.data;

const create = (app: TestApp, token: string, body: object) =>
  app.request<ShownKey & { key: string; error: string }>('POST', '/api/keys', { token, body });

const day = 24 * 60 * 60_000;

test('a key is shown once, opens the routes of its scopes immediately, and opens nothing after its deletion', async (t) => {
  const app = await startApp(t, { settings: { access: 'login' } });
  const token = await app.login('admin');
  const created = await create(app, token, { name: 'grafana', scopes: ['alerts:read', 'alerts:write'] });
  assert.equal(created.status, 201);
  const { key, ...shown } = created.json;
  assert.match(key, /^sbk_\w{43}$/);
  assert.deepEqual([shown.lastUsedAt, shown.isUnused, shown.origin, shown.updatedBy], [null, false, 'made', 'admin']);
  assert.deepEqual(await list(app, token), [shown]);
  const before = Date.now();
  assert.equal((await app.request('POST', '/api/alert', { token: key, body: { message: 'a' } })).status, 200);
  assert.ok(Date.parse((await list(app, token))[0]?.lastUsedAt ?? '') >= before);
  const stream = await openEvents(t, app.url, 'alerts', { token: key });
  await stream.waitFor('hello');
  const headers = { 'if-match': `"${Number(shown.version) + 1}"` };
  assert.equal((await app.request('DELETE', '/api/keys/grafana', { token, headers })).status, 412);
  assert.equal((await app.request('DELETE', '/api/keys/grafana', { token })).status, 200);
  const { status, json } = await app.request('GET', '/api/alerts', { token: key });
  assert.deepEqual([status, json['error']], [401, 'Unknown or revoked key']);
  await stream.ended;
  assert.deepEqual(await list(app, token), []);
  assert.equal((await app.request('DELETE', '/api/keys/grafana', { token })).status, 404);
  const again = await create(app, token, { name: 'grafana', scopes: ['alerts:read'] });
  assert.deepEqual([again.status, again.json.lastUsedAt], [201, null]);
});

test('a key can be created with the member scope, and a key without scopes is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const created = await create(app, token, { name: 'cron', scope: 'heartbeats:write' });
  assert.deepEqual([created.status, created.json.scopes], [201, ['heartbeats:write']]);
  const none = await create(app, token, { name: 'a' });
  assert.deepEqual([none.status, none.json.error], [400, 'scopes is required']);
  const both = await create(app, token, { name: 'a', scope: 'alerts:read', scopes: ['alerts:write'] });
  assert.deepEqual([both.status, both.json.error], [400, 'use either scope or scopes, not both']);
  assert.equal((await list(app, token)).length, 1);
});

test('keys of the config file are listed, cannot be changed, and reserve their names', async (t) => {
  const { entry } = createAccessKey('grafana', ['alerts:write']);
  const app = await startApp(t, { settings: { keys: [entry] } });
  const token = await app.login('admin');
  assert.deepEqual(
    (await list(app, token)).map(({ name, origin, version }) => [name, origin, version]),
    [['grafana', 'config', null]],
  );
  assert.equal((await create(app, token, { name: 'grafana', scopes: ['alerts:read'] })).status, 409);
  assert.equal((await app.request('DELETE', '/api/keys/grafana', { token })).status, 409);
});

test('of two simultaneous keys with one name, one is created; an invalid key is refused', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const both = await Promise.all([1, 2].map(() => create(app, token, { name: 'a', scopes: ['alerts:read'] })));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 409]);
  const bodies = [
    { scopes: ['alerts:read'] },
    { name: 'b' },
    { name: 'b', scopes: [] },
    { name: 'b', scopes: ['everything'] },
    { name: 'b', scopes: 'alerts:read' },
    { name: 'b c', scopes: ['alerts:read'] },
    { name: '', scopes: ['alerts:read'] },
  ];
  for (const body of bodies) {
    const { status, json } = await create(app, token, body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(json.error, /name|scopes/);
  }
});

test('after a restart keys are accepted, their last use is known, and a key without a use for 90 days is marked', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const used = await create(app, token, { name: 'used', scopes: ['alerts:read'] });
  await app.request('GET', '/api/events?topics=none', { token: used.json.key });
  const old = createAccessKey('old', ['alerts:read']);
  const forgotten = createAccessKey('forgotten', ['alerts:read']);
  await app.request('POST', '/api/alert', { token: used.json.key, body: { message: 'a' } });
  const [before] = await list(app, token);
  await app.close();
  const dataDir = join(app.folder, 'data');
  const now = Date.now();
  const kept = [
    [old.entry.sha256.slice(0, 16), now - 200 * day, now - 89 * day],
    [forgotten.entry.sha256.slice(0, 16), now - 91 * day, 0],
  ];
  const settings = { dataDir, keys: [old.entry, forgotten.entry] };
  const second = await startApp(t, { settings });
  const [, , known] = await list(second, await second.login('admin'));
  assert.deepEqual([known?.name, known?.lastUsedAt], ['used', before?.lastUsedAt]);
  assert.notEqual(known?.lastUsedAt, null);
  await second.close();
  writeFileSync(join(dataDir, 'keys.used'), JSON.stringify(kept));
  const third = await startApp(t, { settings });
  assert.deepEqual(
    (await list(third, await third.login('admin'))).map(({ name, isUnused }) => [name, isUnused]),
    [
      ['forgotten', true],
      ['old', false],
      ['used', false],
    ],
  );
  assert.equal((await third.request('GET', '/api/alerts', { token: used.json.key })).status, 200);
});
