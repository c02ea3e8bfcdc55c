import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownSession } from '../../src/features/accounts/schema.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { adminToken } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startTcpProxy } from '../support/postgres/proxy.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { readPart } from '../support/tokens.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { codeOf, createUser, getToken, logIn, setUp, startWithoutUsers, strong } from './support/accounts.ts';

/**
 * Milliseconds within which an instance must know another instance's changes. A busy machine needs more than one
 * second.
 */
const limitMs = 5000;

test('users, keys, destinations and ended sessions are the same on all instances within seconds', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC', access: 'login' };
  const [one, other] = await Promise.all([startApp(t, { settings }), startApp(t, { settings })]);
  const receiver = await startReceiver(t);
  const token = await adminToken(one);
  const statusOf = async (path: string, theirs: string) => (await other.request('GET', path, { token: theirs })).status;

  await createUser(one, token, 'ben');
  await waitUntil(
    'the other instance knows ben',
    async () => (await statusOf('/api/users/ben', token)) === 200,
    limitMs,
  );
  assert.equal((await logIn(other, 'ben')).status, 200);
  const ben = await getToken(one, 'ben');
  assert.equal(await statusOf('/api/tasks', ben), 200);
  const created = await one.request<{ key: string }>('POST', '/api/keys', {
    token,
    body: { name: 'grafana', scopes: ['alerts:read'] },
  });
  const { key } = created.json;
  await waitUntil('the key counts elsewhere', async () => (await statusOf('/api/alerts', key)) === 200, limitMs);
  const streams = await Promise.all([
    openEvents(t, other.url, 'tasks', { token: ben }),
    openEvents(t, other.url, 'alerts', { token: key }),
  ]);
  for (const stream of streams) await stream.waitFor('hello');
  await other.request('PUT', '/api/users/ben', { token, body: { role: 'Reader', password: `${strong} again` } });
  await waitUntil(
    'the old token is refused',
    async () => {
      return (await one.request('GET', '/api/tasks', { token: ben })).status === 401;
    },
    limitMs,
  );
  const again = await getToken(one, 'ben', `${strong} again`);
  await waitUntil('the new token counts', async () => (await statusOf('/api/tasks', again)) === 200, limitMs);
  await one.request('DELETE', '/api/sessions', { token: again });
  await waitUntil('the session has ended', async () => (await statusOf('/api/tasks', again)) === 401, limitMs);
  await one.request('DELETE', '/api/keys/grafana', { token });
  await waitUntil('the key is refused', async () => (await statusOf('/api/alerts', key)) === 401, limitMs);
  for (const stream of streams) await stream.ended;

  await one.request('PUT', '/api/destinations/hook', { token, body: { type: 'webhook', url: receiver.url } });
  await waitUntil(
    'the other one delivers',
    async () => {
      await other.request('POST', '/api/alert', { token, body: { message: 'from the other' } });
      return receiver.requests.some(({ body }) => body.includes('from the other'));
    },
    limitMs,
  );
  await one.request('DELETE', '/api/destinations/hook', { token });
  await waitUntil(
    'the other one has none',
    async () => {
      return (await other.request('POST', '/api/destinations/hook/test', { token })).status === 404;
    },
    limitMs,
  );
});

test('an instance knows the last use of a key at another instance', { skip: toSkipPostgres() }, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC', access: 'login' };
  const one = await startApp(t, { settings });
  const token = await adminToken(one);
  const created = await one.request<{ key: string }>('POST', '/api/keys', {
    token,
    body: { name: 'grafana', scopes: ['alerts:read'] },
  });
  assert.equal((await one.request('GET', '/api/alerts', { token: created.json.key })).status, 200);
  // Uses are stored every 10 minutes, and when an instance stops.
  await one.close();
  const other = await startApp(t, { settings });
  const { json } = await other.request<{ data: { lastUsedAt: string | null }[] }>('GET', '/api/keys', { token });
  assert.ok(json.data[0]?.lastUsedAt);
});

test('on a first start with a database each instance has its own link, and one of the links creates the account', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const [one, other] = await Promise.all([startWithoutUsers(t, settings), startWithoutUsers(t, settings)]);
  assert.notEqual(codeOf(one), codeOf(other));
  for (const app of [one, other]) assert.match(app.notices.join('\n'), /Password of admin for this run: /);
  assert.equal((await setUp(one, codeOf(other))).status, 403);
  const password = /Password of admin for this run: (\S+)/.exec(other.notices.join('\n'))?.[1];
  assert.equal((await logIn(other, 'admin', password)).status, 200);
  assert.equal((await setUp(one, codeOf(one))).status, 201);
  const late = await setUp(other, codeOf(other), 'ben');
  assert.equal(late.status, 403);
  assert.match(String(late.json['error']), /an account exists: log in/);
  assert.equal((await logIn(other, 'admin', password)).status, 401);
  assert.equal((await logIn(other, 'anna')).status, 200);
  const { invitation, notices } = await startWithoutUsers(t, settings);
  assert.equal(invitation, undefined);
  assert.doesNotMatch(notices.join('\n'), /Password/);
});

test('of two simultaneous requests with the links of two instances, one creates the account', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC' };
  const apps = await Promise.all([startWithoutUsers(t, settings), startWithoutUsers(t, settings)]);
  const answers = await Promise.all(apps.map((app, index) => setUp(app, codeOf(app), ['anna', 'ben'][index])));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 403]);
  const winner = answers.findIndex(({ status }) => status === 201);
  const [app] = apps;
  const token = await getToken(app, ['anna', 'ben'][winner] ?? '');
  // The other instance may have created and deleted the second account a moment ago.
  await waitUntilPasses(async () => {
    const { json } = await app.request<{ data: { name: string }[] }>('GET', '/api/users', { token });
    assert.deepEqual(
      json.data.map(({ name }) => name),
      [['anna', 'ben'][winner]],
    );
  });
});

test('an instance that starts while its database is unavailable shows no link and creates no passwords, because there may be accounts', {
  skip: toSkipPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const settings = { store: server.url(), timeZone: 'UTC' };
  const first = await startWithoutUsers(t, settings);
  assert.equal((await setUp(first, codeOf(first))).status, 201);
  const token = await getToken(first, 'anna');
  await first.close();
  await server.stop('SIGKILL');
  const app = await startWithoutUsers(t, settings);
  assert.equal(app.invitation, undefined);
  assert.doesNotMatch(app.notices.join('\n'), /Password/);
  assert.match(app.notices.join('\n'), /Accounts cannot be read while the database is unavailable/);
  assert.equal((await app.request('GET', '/api/users/anna', { token })).status, 503);
  await server.restart();
  // Login attempts are limited.
  const isKnown = async () => (await app.request('GET', '/api/users/anna', { token })).status === 200;
  await waitUntil('the account is known', isKnown);
  assert.equal((await logIn(app, 'anna')).status, 200);
});

test('the sessions of all instances are listed at each instance, and one call ends them everywhere', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(t), timeZone: 'UTC', access: 'login' };
  const [one, other] = await Promise.all([startApp(t, { settings }), startApp(t, { settings })]);
  const here = await one.login('reader');
  let there = here;
  // A user gets only one token per second.
  await waitUntil('another second', async () => {
    there = await other.login('reader');
    return there !== here;
  });
  const renewed = await other.request<{ token: string }>('POST', '/api/sessions/renew', { token: there });
  const list = async (app: TestApp, token: string): Promise<ShownSession[]> =>
    (await app.request<{ data: ShownSession[] }>('GET', '/api/sessions', { token })).json.data;
  await waitUntil('this instance lists both sessions', async () => (await list(one, here)).length === 2, limitMs);
  const [mine, theirs] = [await list(one, here), await list(other, renewed.json.token)];
  assert.deepEqual(mine.map(({ id }) => id).toSorted(), theirs.map(({ id }) => id).toSorted());
  for (const all of [mine, theirs]) assert.equal(all.filter(({ isCurrent }) => isCurrent).length, 1);
  assert.ok(mine.every(({ address, client }) => address === '127.0.0.1' && client === null));
  assert.deepEqual(await list(one, await adminToken(one)).then((all) => all.length), 1);
  // An instance that starts later also knows the sessions.
  const third = await startApp(t, { settings });
  assert.equal((await list(third, here)).length, 2);
  await one.request('DELETE', '/api/sessions', { token: here });
  for (const app of [one, other, third]) {
    for (const token of [here, there, renewed.json.token]) {
      const isRefused = async () => (await app.request('GET', '/api/items', { token })).status === 401;
      await waitUntil('the token is refused', isRefused, limitMs);
    }
  }
  const next = await other.login('reader');
  assert.equal((await list(other, next)).length, 1);
  assert.equal((await list(one, next)).length, 1);
});

test('a session that an instance renews while its database is unavailable ends with the others once the database is back', {
  skip: toSkipPostgres(),
}, async (t) => {
  const server = await startPostgres(t);
  const proxy = await startTcpProxy(t, server.port);
  const settings = { timeZone: 'UTC', access: 'login' };
  const away = new URL(server.url());
  away.port = String(proxy.port);
  const [one, other] = await Promise.all([
    startApp(t, { settings: { ...settings, store: server.url() } }),
    startApp(t, { settings: { ...settings, store: away.href } }),
  ]);
  const token = await one.login('reader');
  proxy.hold('to-client', 'all');
  assert.equal((await one.request('DELETE', '/api/sessions', { token })).status, 200);
  const first = await one.login('reader');
  let renewed = { status: 0, json: { token: '' } };
  await waitUntil('the second after the end', async () => {
    renewed = await other.request<{ token: string }>('POST', '/api/sessions/renew', { token });
    assert.equal(renewed.status, 200);
    return Number(readPart(renewed.json.token, 1)['iat']) > Number(readPart(first, 1)['iat']);
  });
  proxy.release();
  for (const app of [one, other]) {
    const isRefused = async () =>
      (await app.request('GET', '/api/items', { token: renewed.json.token })).status === 401;
    await waitUntil('the token is refused', isRefused, limitMs);
  }
  assert.equal((await other.request('GET', '/api/items', { token: first })).status, 200);
});
