import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openEvents } from '../support/events.ts';
import { adminToken } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { createDatabase } from '../support/postgres/shared-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { waitUntil } from '../support/wait.ts';
import { createUser, getToken, logIn, strong } from './support/accounts.ts';

/** Milliseconds within which an instance must know what another one has changed; a busy machine needs more than one second. */
const limitMs = 5000;

test('users, keys, destinations and ended sessions are the same on all instances within seconds', {
  skip: toSkipPostgres(),
}, async (t) => {
  const settings = { store: await createDatabase(), timeZone: 'UTC', access: 'login' };
  const [one, other] = await Promise.all([startApp(t, { settings }), startApp(t, { settings })]);
  const receiver = await startReceiver(t);
  const token = await adminToken(one);
  const statusOf = async (path: string, theirs: string) => (await other.request('GET', path, { token: theirs })).status;

  await createUser(one, token, 'ben');
  await waitUntil('ben is known elsewhere', async () => (await statusOf('/api/users/ben', token)) === 200, limitMs);
  assert.equal((await logIn(other, 'ben')).status, 200);
  const ben = await getToken(one, 'ben');
  assert.equal(await statusOf('/api/tasks', ben), 200);
  const made = await one.request<{ key: string }>('POST', '/api/keys', {
    ...{ token, body: { name: 'grafana', scopes: ['alerts:read'] } },
  });
  const { key } = made.json;
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

test('an instance knows when a key was used at another one', { skip: toSkipPostgres() }, async (t) => {
  const settings = { store: await createDatabase(), timeZone: 'UTC', access: 'login' };
  const one = await startApp(t, { settings });
  const token = await adminToken(one);
  const made = await one.request<{ key: string }>('POST', '/api/keys', {
    ...{ token, body: { name: 'grafana', scopes: ['alerts:read'] } },
  });
  assert.equal((await one.request('GET', '/api/alerts', { token: made.json.key })).status, 200);
  // It is kept now and then, and when an instance stops.
  await one.close();
  const other = await startApp(t, { settings });
  const { json } = await other.request<{ data: { lastUsedAt: string | null }[] }>('GET', '/api/keys', { token });
  assert.ok(json.data[0]?.lastUsedAt);
});
