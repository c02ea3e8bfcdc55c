import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeartbeat, ping } from '../../../test/heartbeats/support/heartbeats.ts';
import { startApp, startRefusal } from '../../../test/support/app.ts';
import { toDestination, waitForRequests } from '../../../test/support/outbox.ts';
import { startReceiver } from '../../../test/support/receiver.ts';

test('the profile alerts and its letter serve the deliveries too', async (t) => {
  for (const name of ['alerts', 'X']) {
    const { request } = await startApp(t, { settings: { profiles: [name] } });
    assert.equal((await request('GET', '/api/alerts')).status, 200);
    assert.equal((await request('GET', '/api/deliveries')).status, 401);
  }
});

test('a destination is notified of alerts and incidents whose routes are not mounted', async (t) => {
  const receiver = await startReceiver(t);
  const settings = {
    profiles: ['notifications', 'login', 'heartbeats'],
    destinations: [toDestination(receiver)],
  };
  const { request, login, url } = await startApp(t, { settings });
  const token = await login('admin');
  const { json } = await request<{ data: { destination: string }[] }>('GET', '/api/deliveries', { token });
  assert.equal(json.data.length, 1);
  assert.equal((await request('GET', '/api/alerts')).status, 404);
  assert.equal((await request('GET', '/api/incidents')).status, 404);
  const { uuid } = await createHeartbeat({ request }, token, 'backup');
  await ping(url, `${uuid}/fail`);
  await waitForRequests(receiver, 1);
});

test('access of alerts can differ from that of notifications, and one letter for both cannot be added', async (t) => {
  await startApp(t, { settings: { access: { alerts: 'open', notifications: 'admin' } } });
  const problem = await startRefusal(t, { settings: { access: { X: 'admin', notifications: 'admin' } } });
  assert.match(String(problem), /access names the profile notifications twice, also as X: remove X/);
});
