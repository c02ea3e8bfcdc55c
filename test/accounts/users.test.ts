import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ShownUser } from '../../src/features/accounts/schema.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openConnection } from '../support/connection.ts';
import { openEvents } from '../support/events.ts';
import { codeOf, createUser, getToken, logIn, setUp, startWithoutUsers, strong } from './support/accounts.ts';

/** Starts an app whose only administrator is anna. */
const start = async (t: TestContext) => {
  const app = await startWithoutUsers(t, { access: 'login' });
  await setUp(app, codeOf(app));
  return { app, token: await getToken(app, 'anna') };
};

const change = (app: TestApp, token: string, name: string, body: object, headers = {}) =>
  app.request<ShownUser & { error: string }>('PUT', `/api/users/${name}`, { token, body, headers });

interface Change {
  at: string;
  by: string;
  name: string;
  change: string;
  isNew: boolean;
  fields: string[];
}

const read = (app: TestApp, token: string) => app.request('GET', '/api/tasks', { token });

test('a user is created, listed, changed and deleted, and the audit has the author and time of each change', async (t) => {
  const { app, token } = await start(t);
  const before = Date.now();
  const created = await createUser(app, token, 'ben');
  assert.equal(created.status, 201);
  assert.equal((await createUser(app, token, 'ben')).status, 409);
  assert.equal((await createUser(app, token, 'BEN')).status, 409);
  const changed = await change(app, token, 'ben', { role: 'Admin' });
  assert.deepEqual([changed.status, changed.json.role, changed.json.updatedBy], [200, 'Admin', 'anna']);
  const shown = await app.request('GET', '/api/users/ben', { token });
  assert.deepEqual([shown.json, shown.headers['etag']], [changed.json, `"${changed.json.version}"`]);
  assert.equal((await app.request('DELETE', '/api/users/ben', { token })).status, 200);
  assert.equal((await app.request('GET', '/api/users/ben', { token })).status, 404);
  assert.equal((await app.request('DELETE', '/api/users/ben', { token })).status, 404);
  assert.equal((await change(app, token, 'ben', { role: 'Admin' })).status, 404);
  const { json } = await app.request<{ data: Change[] }>('GET', '/api/audit?kind=user', { token });
  assert.deepEqual(
    json.data.map(({ by, name, change: what, isNew, fields }) => [by, name, what, isNew, fields]),
    [
      ['anna', 'ben', 'deleted', false, []],
      ['anna', 'ben', 'put', false, ['role']],
      ['anna', 'ben', 'put', true, []],
      ['anna', 'anna', 'put', true, []],
    ],
  );
  for (const { at, by } of json.data.slice(0, 3)) assert.ok(by && Date.parse(at) >= before);
});

test('the tokens and streams of a user end immediately when the user is deleted, or gets another role or password', async (t) => {
  const { app, token } = await start(t);
  const steps: ((name: string) => Promise<{ status: number }>)[] = [
    (name) => app.request('DELETE', `/api/users/${name}`, { token }),
    (name) => change(app, token, name, { role: 'Admin' }),
    (name) => change(app, token, name, { role: 'Reader', password: `${strong} again` }),
  ];
  for (const [index, step] of steps.entries()) {
    const name = `user${index}`;
    await createUser(app, token, name);
    const theirs = await getToken(app, name);
    const stream = await openEvents(t, app.url, 'tasks', { token: theirs });
    await stream.waitFor('hello');
    assert.equal((await read(app, theirs)).status, 200);
    assert.equal((await step(name)).status, 200);
    const { status, json } = await read(app, theirs);
    assert.deepEqual([status, json['error']], [401, 'Token validation failed: the user has been removed or changed']);
    await stream.ended;
  }
  assert.equal((await logIn(app, 'user0')).json['error'], 'Unknown user');
  assert.equal((await read(app, await getToken(app, 'user1'))).status, 200);
  assert.deepEqual(
    [(await logIn(app, 'user2')).status, (await logIn(app, 'user2', `${strong} again`)).status],
    [401, 200],
  );
});

test('a request or login that is unfinished when its user is deleted or logs out gets no access', async (t) => {
  const { app, token } = await start(t);
  await createUser(app, token, 'ben', 'Admin');
  const theirs = await getToken(app, 'ben');
  const body = JSON.stringify({ name: 'backdoor', role: 'Admin', password: strong });
  const open = (path: string) => {
    const connection = openConnection(app.url);
    t.after(() => connection.destroy());
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${theirs}\r\n`;
    connection.send(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 1)}`);
    return connection;
  };
  const connections = [open('/api/users'), open('/api/sessions/renew')];
  // The heads of the requests have arrived by the time a password is checked.
  await logIn(app, 'anna');
  const logins = Promise.all([1, 2].map(() => logIn(app, 'ben')));
  assert.equal((await app.request('DELETE', '/api/users/ben', { token })).status, 200);
  for (const connection of connections) {
    connection.send(body.slice(1));
    assert.equal((await connection.next())?.status, 401);
  }
  assert.equal((await app.request('GET', '/api/users/backdoor', { token })).status, 404);
  for (const { status, json } of await logins) {
    assert.ok(status === 401 || (await read(app, String(json['token']))).status === 401, String(status));
  }
});

test('tokens of a deleted user stay refused after a restart, even if a new user has the name', async (t) => {
  const { app, token } = await start(t);
  for (const name of ['ben', 'eve']) await createUser(app, token, name);
  const theirs = [await getToken(app, 'ben'), await getToken(app, 'eve')];
  for (const name of ['ben', 'eve']) await app.request('DELETE', `/api/users/${name}`, { token });
  await createUser(app, token, 'eve');
  await app.close();
  const again = await startWithoutUsers(t, { access: 'login', dataDir: `${app.folder}/data` });
  for (const one of theirs) assert.equal((await read(again, one)).status, 401);
  assert.equal((await read(again, token)).status, 200);
  assert.equal((await read(again, await getToken(again, 'eve'))).status, 200);
});

test('a change without effect logs nobody out', async (t) => {
  const { app, token } = await start(t);
  const { json } = await app.request<ShownUser>('GET', '/api/users/anna', { token });
  const same = await change(app, token, 'anna', { role: 'Admin' });
  assert.deepEqual([same.status, same.json], [200, json]);
  assert.equal((await read(app, token)).status, 200);
});

test('the last administrator can be neither deleted nor demoted by anyone', async (t) => {
  const { app, token } = await start(t);
  const refused = [
    await app.request('DELETE', '/api/users/anna', { token }),
    await change(app, token, 'anna', { role: 'Reader' }),
  ];
  for (const { status, json } of refused) {
    assert.equal(status, 409);
    assert.match(String(json['error']), /last administrator/);
  }
  await createUser(app, token, 'ben', 'Admin');
  const other = await getToken(app, 'ben');
  const both = await Promise.all([
    app.request('DELETE', '/api/users/anna', { token: other }),
    app.request('DELETE', '/api/users/ben', { token }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409]);
});

test('when two administrators change a user, the second one gets 412 and the current version', async (t) => {
  const { app, token } = await start(t);
  const { json } = await createUser(app, token, 'ben');
  const headers = { 'if-match': `"${json['version']}"` };
  const theirs = await getToken(app, 'ben');
  const stale = { 'if-match': `"${Number(json['version']) + 1000}"` };
  assert.equal((await change(app, token, 'ben', { role: 'Admin' }, stale)).status, 412);
  assert.equal((await app.request('DELETE', '/api/users/ben', { token, headers: stale })).status, 412);
  assert.equal((await read(app, theirs)).status, 200);
  const both = await Promise.all([
    change(app, token, 'ben', { role: 'Admin' }, headers),
    change(app, token, 'ben', { role: 'Reader', password: `${strong} again` }, headers),
  ]);
  const [won, lost] = both.toSorted((one, another) => one.status - another.status);
  assert.deepEqual([won?.status, lost?.status, lost?.headers['etag']], [200, 412, `"${won?.json.version}"`]);
});

test('configured users are listed and cannot be changed', async (t) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  const { json } = await app.request<{ data: ShownUser[] }>('GET', '/api/users', { token });
  assert.deepEqual(
    json.data.map(({ name, role, origin, version }) => [name, role, origin, version]),
    [
      ['admin', 'Admin', 'config', null],
      ['reader', 'Reader', 'config', null],
    ],
  );
  for (const name of ['admin', 'Admin', 'reader']) assert.equal((await createUser(app, token, name)).status, 409, name);
  assert.equal((await change(app, token, 'admin', { role: 'Reader' })).status, 409);
  assert.equal((await app.request('DELETE', '/api/users/reader', { token })).status, 409);
  await createUser(app, token, 'ben', 'Admin');
  assert.equal((await app.request('DELETE', '/api/users/ben', { token })).status, 200);
});

test('an invalid user is refused with advice, and a Reader may neither read nor change users', async (t) => {
  const { app, token } = await start(t);
  const bodies = [
    {},
    { name: 'ben', role: 'Reader' },
    { name: 'ben', role: 'Owner', password: strong },
    { name: 'b n', role: 'Reader', password: strong },
    { name: 'ben', role: 'Reader', password: 'short' },
    { name: 'ben', role: 'Reader', password: 12 },
  ];
  for (const body of bodies) {
    const { status, json } = await app.request('POST', '/api/users', { token, body });
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(String(json['error']), /name|role|password/);
  }
  await createUser(app, token, 'eve');
  assert.equal((await change(app, token, 'eve', { role: 'Admin', password: 'short' })).status, 400);
  assert.equal((await change(app, token, 'eve', {})).status, 400);
  const reader = await getToken(app, 'eve');
  for (const path of ['/api/users', '/api/keys', '/api/users/anna']) {
    assert.equal((await app.request('GET', path, { token: reader })).status, 403);
  }
  assert.equal((await createUser(app, reader, 'ben')).status, 403);
});
