import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { startMailServer } from '../support/mail-server.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { startPostgres } from '../support/postgres/server.ts';
import { waitUntilPasses } from '../support/wait.ts';
import { onePage, putPage } from './support/pages.ts';
import { publicUrl, subscribe, toMail } from './support/subscribers.ts';

const skip = toSkipPostgres();

test('instances show the same page, also while the database is unavailable, without their names', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off' } });
  const settings = { store: server.url(), timeZone: 'UTC' };
  const one = await startApp(t, { settings: { ...settings, instanceName: 'rack-1' } });
  const other = await startApp(t, { settings: { ...settings, instanceName: 'rack-2' } });
  const token = await one.login('admin');
  await putPage(one, token, 'main', onePage);
  await sendAlert(one, { source: 'db', message: 'x' });
  await waitForIncident(one, { state: 'open' });
  const body = { page: 'main', title: 'Slow responses', text: 'x', state: 'investigating' };
  assert.equal((await one.request('POST', '/api/incidents/1/announcements', { token, body })).status, 201);
  const read = async () => {
    for (const app of [one, other]) {
      const { status, text, headers } = await app.request('GET', '/status/main');
      assert.equal(status, 200);
      assert.match(text, /<h2>Slow responses<\/h2>/);
      assert.ok(!JSON.stringify(headers).includes('rack'));
    }
  };
  await waitUntilPasses(read);
  await server.stop('SIGQUIT');
  const refused = await one.request('POST', '/api/incidents/1/announcements', { token, body });
  assert.equal(refused.status, 503);
  for (let count = 0; count < 20; count += 1) await read();
});

test('a reader who leaves through an instance cannot be subscribed again by an old link through another instance', {
  skip,
}, async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'off' } });
  const mails = await startMailServer(t);
  const settings = { store: server.url(), timeZone: 'UTC', publicUrl, destinations: [toMail(mails)] };
  const one = await startApp(t, { settings: { ...settings, instanceName: 'rack-1' } });
  const other = await startApp(t, { settings: { ...settings, instanceName: 'rack-2' } });
  const token = await one.login('admin');
  await putPage(one, token, 'main', onePage);
  await waitUntilPasses(async () => assert.equal((await other.request('GET', '/status/main')).status, 200));
  const link = await subscribe(one, mails, 'anna@example.com');
  const path = '/api/status-pages/main/subscribers';
  const { json } = await one.request<{ data: { id: string }[] }>('GET', path, { token });
  assert.equal((await one.request('DELETE', `${path}/${json.data[0]?.id}`, { token })).status, 200);
  // The other instance may not have read the departure yet.
  assert.equal((await other.request('POST', link)).status, 410);
  const left = await one.request<{ count: number }>('GET', path, { token });
  assert.equal(left.json.count, 0);
});

test('an instance that starts without its database says that its pages have not been read', { skip }, async (t) => {
  const app = await startApp(t, { settings: { store: 'postgres://127.0.0.1:1/none', timeZone: 'UTC' } });
  const { status, headers } = await app.request('GET', '/status/main');
  assert.equal(status, 503);
  assert.ok(headers['retry-after']);
});
