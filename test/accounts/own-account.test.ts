import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccessKey } from '../../src/auth/access.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { codeOf, createUser, getToken, logIn, setUp, startWithoutUsers, strong } from './support/accounts.ts';

const start = async (t: TestContext) => {
  const app = await startWithoutUsers(t, { access: 'login' });
  await setUp(app, codeOf(app));
  const admin = await getToken(app, 'anna');
  await createUser(app, admin, 'ben');
  return { app, admin, token: await getToken(app, 'ben') };
};

const next = `${strong} again`;

const changePassword = (app: TestApp, token: string, body: object) =>
  app.request<{ token: string; error: string }>('PUT', '/api/account/password', { token, body });

const statusOf = async (app: TestApp, token: string): Promise<number> =>
  (await app.request('GET', '/api/account', { token })).status;

test('a Reader changes their password with the current password, which ends their other sessions and keeps this session', async (t) => {
  const { app, admin, token } = await start(t);
  const other = (await app.request<{ token: string }>('POST', '/api/sessions/renew', { token })).json.token;
  const wrong = await changePassword(app, token, { currentPassword: `${strong}?`, password: next });
  assert.deepEqual([wrong.status, wrong.json.error], [403, 'currentPassword is wrong']);
  const weak = await changePassword(app, token, { currentPassword: strong, password: 'short' });
  assert.equal(weak.status, 400);
  for (const one of [token, other]) assert.equal(await statusOf(app, one), 200);
  const changed = await changePassword(app, token, { currentPassword: strong, password: next });
  assert.equal(changed.status, 200);
  for (const one of [token, other]) assert.equal(await statusOf(app, one), 401);
  assert.equal(await statusOf(app, changed.json.token), 200);
  assert.equal((await logIn(app, 'ben')).status, 401);
  assert.equal((await logIn(app, 'ben', next)).status, 200);
  const { json } = await app.request<{ data: { by: string; name: string }[] }>('GET', '/api/audit?kind=user', {
    token: admin,
  });
  assert.deepEqual([json.data[0]?.by, json.data[0]?.name], ['ben', 'ben']);
});

test("an Admin needs the current password to change their own password, but not to set another user's password", async (t) => {
  const { app, admin } = await start(t);
  const put = (name: string, body: object) => app.request('PUT', `/api/users/${name}`, { token: admin, body });
  const own = await put('anna', { role: 'Admin', password: next });
  assert.equal(own.status, 409);
  assert.match(String(own.json['error']), /PUT \/api\/account\/password/);
  assert.equal(await statusOf(app, admin), 200);
  assert.equal((await put('ben', { role: 'Reader', password: next })).status, 200);
  assert.equal((await changePassword(app, admin, { currentPassword: strong, password: next })).status, 200);
});

test('a configured password cannot be changed over HTTP, and a wrong current password counts as a wrong login', async (t) => {
  const app = await startApp(t, { settings: { access: 'login', loginTriesPerAddress: 3 } });
  const token = await app.login('reader');
  const refused = await changePassword(app, token, { currentPassword: strong, password: next });
  assert.deepEqual(
    [refused.status, refused.json.error],
    [409, 'User reader is defined in the settings: change the user there'],
  );
  await createUser(app, await app.login('admin'), 'ben');
  const own = await getToken(app, 'ben');
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    statuses.push((await changePassword(app, own, { currentPassword: `wrong ${strong}`, password: next })).status);
  }
  assert.deepEqual(statuses, [403, 403, 403, 429]);
});

test('the account of a user lists the rights of its role', async (t) => {
  const { app, admin, token } = await start(t);
  const read = async (one: string) =>
    (await app.request<{ name: string; role: string; rights: string[] }>('GET', '/api/account', { token: one })).json;
  const [reader, all] = [await read(token), await read(admin)];
  assert.deepEqual([reader.name, reader.role, all.name, all.role], ['ben', 'Reader', 'anna', 'Admin']);
  assert.ok(reader.rights.includes('incidents:write') && reader.rights.includes('watches:read'));
  assert.deepEqual(all.rights.filter((right) => !reader.rights.includes(right)).toSorted(), [
    'accounts:manage',
    'audit:read',
    'commands:run',
    'heartbeats:create',
    'hosts:create',
    'settings:write',
  ]);
});

test('a Reader reads watches and notifications, and creates, changes and deletes tasks', async (t) => {
  const { app, token } = await start(t);
  for (const path of [
    '/api/watches',
    '/api/deliveries',
    '/api/destinations',
    '/api/notifications',
    '/api/intake-formats',
  ]) {
    assert.equal((await app.request('GET', path, { token })).status, 200, path);
  }
  const created = await app.request<{ Id: number }>('POST', '/api/tasks', { token, body: { Title: 'look' } });
  assert.equal(created.status, 201);
  const path = `/api/tasks/${created.json.Id}`;
  assert.equal((await app.request('PUT', path, { token, body: { Status: 'Completed' } })).status, 200);
  assert.equal((await app.request('DELETE', path, { token })).status, 200);
  for (const [method, refused] of [
    ['POST', '/api/watches'],
    ['PUT', '/api/destinations/phone'],
    ['POST', '/api/destinations/phone/test'],
    ['POST', '/api/deliveries/phone/retry'],
    ['GET', '/api/users'],
    ['GET', '/api/keys'],
    ['GET', '/api/audit'],
    ['GET', '/api/executions'],
  ] as const) {
    const body = method === 'GET' ? undefined : { name: 'a' };
    const { status, json } = await app.request(method, refused, { token, ...(body && { body }) });
    assert.deepEqual([status, json['error']], [403, 'This request needs the role Admin'], refused);
  }
});

test('the refusal of a key names the missing scope, or says that the route is for people only', async (t) => {
  const { key, entry } = createAccessKey('scraper', ['metrics:read']);
  const app = await startApp(t, { settings: { access: 'login', keys: [entry] } });
  const cases = [
    ['GET', '/api/incidents', 'This key lacks the scope incidents:read'],
    ['POST', '/api/incidents/1/acknowledge', 'This key lacks the scope incidents:write'],
    ['GET', '/api/alerts/search', 'This key lacks the scope alerts:read'],
    ['POST', '/api/v2/alerts', 'This key lacks the scope alerts:write'],
    ['GET', '/ping/backup', 'This key lacks the scope heartbeats:write'],
    ['GET', '/api/users', 'Keys cannot use this route: log in as a user instead'],
  ] as const;
  for (const [method, path, error] of cases) {
    const { status, json } = await app.request(method, path, { token: key });
    assert.deepEqual([status, json['error']], [403, error], path);
  }
});

test('only an Admin, or a key with heartbeats:create, creates a heartbeat with a ping', async (t) => {
  const ping = createAccessKey('ping', ['heartbeats:write']);
  const make = createAccessKey('make', ['heartbeats:create']);
  const app = await startApp(t, { settings: { access: 'login', keys: [ping.entry, make.entry] } });
  const send = (token: string, name: string) => app.request('POST', `/ping/${name}?create=1`, { token });
  const refused = await send(ping.key, 'one');
  assert.deepEqual([refused.status, refused.json['error']], [403, 'This key lacks the scope heartbeats:create']);
  assert.equal((await send(await app.login('reader'), 'one')).status, 403);
  assert.equal((await send(make.key, 'one')).status, 201);
  assert.equal((await send(ping.key, 'one')).status, 200);
});
