import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, startRefusal } from '../../../test/support/app.ts';
import { toDestination } from '../../../test/support/outbox.ts';
import { startReceiver } from '../../../test/support/receiver.ts';

test('the profile alerts and its letter serve the deliveries too', async (t) => {
  for (const name of ['alerts', 'X']) {
    const { request } = await startApp(t, { settings: { profiles: [name] } });
    assert.equal((await request('GET', '/api/alerts')).status, 200);
    assert.equal((await request('GET', '/api/deliveries')).status, 401);
  }
});

test('without alerts, destinations get nothing, which the start says', async (t) => {
  const receiver = await startReceiver(t);
  const settings = { profiles: ['notifications', 'login'], destinations: [toDestination(receiver)] };
  const { request, login, notices } = await startApp(t, { settings });
  const { status, json } = await request('GET', '/api/deliveries', { token: await login('admin') });
  assert.deepEqual([status, json], [200, { count: 0, data: [], quiet: false }]);
  assert.ok(notices.includes('Warning: destinations get nothing, because the profile alerts is not mounted'));
  assert.equal((await request('GET', '/api/alerts')).status, 404);
});

test('access of alerts can differ from that of notifications, and one letter for both cannot be added', async (t) => {
  await startApp(t, { settings: { access: { alerts: 'open', notifications: 'admin' } } });
  const problem = await startRefusal(t, { settings: { access: { X: 'admin', notifications: 'admin' } } });
  assert.match(String(problem), /access names the profile notifications twice, as X too: remove X/);
});
