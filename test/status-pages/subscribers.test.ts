import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { hourMs, MiB } from '../../src/lib/units.ts';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type MailServer, refusal, startMailServer } from '../support/mail-server.ts';
import { withClock } from '../support/notifications.ts';
import type { Scope } from '../support/scope.ts';
import { waitUntil, waitUntilPasses } from '../support/wait.ts';
import { mountSmall } from '../watches/support/small-disk.ts';
import { onePage, putPage } from './support/pages.ts';
import { form, mailsTo, publicUrl, subscribe, toMail } from './support/subscribers.ts';

const start = async (t: Scope, { url }: Pick<MailServer, 'url'>, settings: object = {}) => {
  const app = await startApp(t, { settings: { publicUrl, destinations: [toMail({ url })], ...settings } });
  const token = await app.login('admin');
  await putPage(app, token, 'main', onePage);
  return { app, token };
};

const announce = async (app: TestApp, token: string) => {
  await sendAlert(app, { source: 'db', message: 'inside' });
  await waitForIncident(app, { state: 'open' });
  const body = { page: 'main', title: 'Slow responses', text: 'We look into it.', state: 'investigating' };
  const { status, json } = await app.request<{ id: string }>('POST', '/api/incidents/1/announcements', { token, body });
  assert.equal(status, 201);
  return json.id;
};

test('a reader confirms the address, gets each update once, and leaves with one click', async (t) => {
  const server = await startMailServer(t);
  const { app, token } = await start(t, server);
  assert.match((await app.request('GET', '/status/main')).text, /href="main\/subscribe"/);
  const confirmation = await subscribe(app, server, 'anna@example.com');
  const id = await announce(app, token);
  await waitUntil('the announcement arrives', () => mailsTo(server, 'anna@example.com').length === 2);
  const [, mail] = mailsTo(server, 'anna@example.com');
  assert.equal(mail?.headers['subject'], '[Example] Investigating: Slow responses');
  assert.equal(mail?.headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click');
  assert.ok(!mail?.raw.includes('inside'));
  const update = { text: 'Fast again.', state: 'resolved' };
  await app.request('POST', `/api/announcements/${id}/updates`, { token, body: update });
  await waitUntil('the update arrives', () => mailsTo(server, 'anna@example.com').length === 3);
  const [, path = ''] = /<https:\/\/status\.example\.org(\/\S+)>/.exec(mail?.headers['list-unsubscribe'] ?? '') ?? [];
  const shown = await app.request('GET', path, { headers: { accept: 'text/html' } });
  assert.match(shown.text, /<button>Unsubscribe<\/button>/);
  const left = await app.request('POST', path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  assert.deepEqual([left.status, left.json['message']], [200, 'You are no longer subscribed.']);
  const list = await app.request<{ count: number }>('GET', '/api/status-pages/main/subscribers', { token });
  assert.equal(list.json.count, 0);
  // A link preview, or a reader who looks through old mails, must not subscribe the address again.
  const again = await app.request('POST', confirmation);
  assert.equal(again.status, 410);
});

test('a confirmation link subscribes nobody after its page was deleted and created again', async (t) => {
  const server = await startMailServer(t);
  const { app, token } = await start(t, server);
  const path = await subscribe(app, server, 'anna@example.com');
  assert.equal((await app.request('DELETE', '/api/status-pages/main', { token })).status, 200);
  await putPage(app, token, 'main', onePage);
  const shown = await app.request('GET', path, { headers: { accept: 'text/html' } });
  assert.match(shown.text, /This link is no longer valid\./);
  assert.equal((await app.request('POST', path)).status, 410);
  const { json } = await app.request<{ count: number }>('GET', '/api/status-pages/main/subscribers', { token });
  assert.equal(json.count, 0);
});

test('departures that cannot be forgotten are logged', async (t) => {
  const dataDir = mountSmall(t, 64);
  if (dataDir === undefined) return t.skip('mounting a file system needs root');
  t.mock.timers.enable({ apis: ['setInterval'] });
  const server = await startMailServer(t);
  let now = Date.now();
  const warnings: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (text: string) => void warnings.push(JSON.parse(text)['msg']) });
  const settings = { publicUrl, destinations: [toMail(server)], dataDir, maxEventLoopDelay: 0 };
  const app = await startApp(t, { settings, log, features: withClock(() => new Date(now)) });
  const token = await app.login('admin');
  await putPage(app, token, 'main', onePage);
  await subscribe(app, server, 'anna@example.com');
  const path = '/api/status-pages/main/subscribers';
  const { json } = await app.request<{ data: { id: string }[] }>('GET', path, { token });
  assert.equal((await app.request('DELETE', `${path}/${json.data[0]?.id}`, { token })).status, 200);
  now += 25 * hourMs;
  assert.throws(() => writeFileSync(join(dataDir, 'filling'), Buffer.alloc(128 * MiB)), { code: 'ENOSPC' });
  t.mock.timers.tick(hourMs);
  await waitUntil('the failure is logged', () =>
    warnings.includes('status pages: expired departures cannot be removed'),
  );
});

test('addresses with line breaks and other texts are refused, and no mail is sent', async (t) => {
  const server = await startMailServer(t);
  const { app } = await start(t, server);
  const addresses = [
    'a@example.com\nBcc: b@example.com',
    'a@example.com\r',
    'a b@example.com',
    'Anna <a@example.com>',
    '',
    'a@',
    'a@b@c',
    `${'a'.repeat(65)}@example.com`,
  ];
  for (const address of addresses) {
    const { status } = await app.request('POST', '/status/main/subscribe', { body: { address } });
    assert.equal(status, 400, JSON.stringify(address));
    const sent = await app.request('POST', '/status/main/subscribe', {
      headers: form,
      body: new URLSearchParams({ address }).toString(),
    });
    assert.equal(sent.status, 400, JSON.stringify(address));
  }
  assert.equal((await app.request('POST', '/status/main/subscribe', { body: { address: 7 } })).status, 400);
  assert.deepEqual(server.mails, []);
});

test('a forged, altered or foreign confirmation subscribes nobody', async (t) => {
  const server = await startMailServer(t);
  const { app, token } = await start(t, server);
  await putPage(app, token, 'other', onePage);
  const path = await subscribe(app, server, 'anna@example.com');
  const [, confirm = ''] = path.split('subscribe/');
  const content = Buffer.from(JSON.stringify(['main', 'eve@example.com', Date.now() + 1e9])).toString('base64url');
  for (const wrong of [`${content}.${confirm.split('.')[1]}`, `${confirm}x`, confirm.split('.')[0], 'a.', content]) {
    const { status } = await app.request('POST', `/status/main/subscribe/${wrong}`);
    assert.equal(status, 410, wrong);
  }
  assert.equal((await app.request('POST', `/status/other/subscribe/${confirm}`)).status, 410);
  const list = await app.request<{ data: { address: string }[] }>('GET', '/api/status-pages/main/subscribers', {
    token,
  });
  assert.deepEqual(
    list.json.data.map(({ address }) => address),
    ['anna@example.com'],
  );
});

test('subscribers are visible to Admins only, who can remove them', async (t) => {
  const server = await startMailServer(t);
  const { app, token } = await start(t, server);
  await subscribe(app, server, 'anna@example.com');
  const reader = await app.login('reader');
  const path = '/api/status-pages/main/subscribers';
  assert.equal((await app.request('GET', path, { token: reader })).status, 403);
  for (const each of ['/api/status-pages', '/api/announcements', '/api/audit', '/status/main']) {
    const { text } = await app.request('GET', each, { token: each === '/api/audit' ? token : reader });
    assert.ok(!text.includes('anna@'), each);
  }
  const { json } = await app.request<{ data: { id: string }[] }>('GET', path, { token });
  const removed = await app.request('DELETE', `${path}/${json.data[0]?.id}`, { token });
  assert.deepEqual([removed.status, removed.json['address']], [200, 'anna@example.com']);
  assert.equal((await app.request('DELETE', `${path}/${json.data[0]?.id}`, { token })).status, 404);
});

test('requests are limited for each caller, and an address gets one confirmation in 10 minutes', async (t) => {
  const server = await startMailServer(t);
  const { app } = await start(t, server);
  const ask = (address: string) => app.request('POST', '/status/main/subscribe', { body: { address } });
  assert.equal((await ask('anna@example.com')).status, 200);
  assert.equal((await ask('Anna@example.com')).status, 200);
  for (const name of ['b', 'c', 'd']) assert.equal((await ask(`${name}@example.com`)).status, 200);
  const refused = await ask('e@example.com');
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '600']);
  await waitUntil('four confirmations arrive', () => server.mails.length === 4);
});

test('a refused recipient does not keep others from their mail, and a mail that failed is sent later', async (t) => {
  let isBroken = true;
  const server = await startMailServer(t, {
    onRecipient: (address) => (address.startsWith('gone') && !isBroken ? refusal(550, 'no such user') : undefined),
    onMail: ({ headers }) => (isBroken && headers['list-unsubscribe'] ? refusal(451, 'try later') : undefined),
  });
  const { app, token } = await start(t, server);
  await subscribe(app, server, 'gone@example.com');
  await subscribe(app, server, 'anna@example.com');
  await announce(app, token);
  await waitUntil('a mail fails', () => mailsTo(server, 'anna@example.com').length >= 2);
  isBroken = false;
  const before = server.mails.length;
  await waitUntilPasses(async () => {
    const later = server.mails.slice(before).flatMap(({ to }) => to.filter((each) => each.endsWith('.com')));
    assert.deepEqual(later, ['anna@example.com']);
  }, 20_000);
});

test('deferred recipients do not keep later recipients from their mail', async (t) => {
  let isFull = false;
  const server = await startMailServer(t, {
    onRecipient: (address) => (isFull && address.startsWith('full') ? refusal(452, 'mailbox full') : undefined),
  });
  const { app, token } = await start(t, server);
  for (const name of ['full1', 'full2', 'full3', 'anna']) await subscribe(app, server, `${name}@example.com`);
  isFull = true;
  await announce(app, token);
  await waitUntil('the mail arrives', () => mailsTo(server, 'anna@example.com').length === 2);
  assert.equal(mailsTo(server, 'full1@example.com').length, 1);
});

test('without a jwtSecret, a confirmation link is valid after a restart', async (t) => {
  const server = await startMailServer(t);
  const { app } = await start(t, server, { jwtSecret: undefined });
  const path = await subscribe(app, server, 'anna@example.com');
  await app.close();
  const dataDir = join(app.folder, 'data');
  const { app: again } = await start(t, server, { jwtSecret: undefined, dataDir });
  assert.equal((await again.request('POST', path)).status, 200);
});

test('subscribers of a page that has left the config file can leave and be removed, and get no mails without a public address', async (t) => {
  const server = await startMailServer(t);
  const page = { name: 'main', ...onePage };
  const first = await startApp(t, { settings: { publicUrl, statusPages: [page], destinations: [toMail(server)] } });
  await subscribe(first, server, 'anna@example.com');
  await subscribe(first, server, 'bert@example.com');
  await first.close();
  const dataDir = join(first.folder, 'data');
  const kept = await startApp(t, { settings: { statusPages: [page], destinations: [toMail(server)], dataDir } });
  await announce(kept, await kept.login('admin'));
  await kept.close();
  const app = await startApp(t, { settings: { publicUrl, destinations: [toMail(server)], dataDir } });
  const token = await app.login('admin');
  const path = '/api/status-pages/main/subscribers';
  const { json } = await app.request<{ data: { id: string }[] }>('GET', path, { token });
  const [anna, bert] = json.data;
  const shown = await app.request('GET', `/status/main/subscribe/${anna?.id}`, { headers: { accept: 'text/html' } });
  assert.match(shown.text, /<button>Unsubscribe<\/button>/);
  assert.equal((await app.request('POST', `/status/main/subscribe/${anna?.id}`)).status, 200);
  assert.equal((await app.request('DELETE', `${path}/${bert?.id}`, { token })).status, 200);
  assert.equal((await app.request('GET', path, { token })).status, 404);
  assert.equal(mailsTo(server, 'anna@example.com').length, 1);
});

test('without a public address or a mail server, a page has no subscriptions', async (t) => {
  const server = await startMailServer(t);
  const { app } = await start(t, server, { publicUrl: undefined });
  assert.ok(!(await app.request('GET', '/status/main')).text.includes('subscribe'));
  const { status } = await app.request('POST', '/status/main/subscribe', { body: { address: 'a@example.com' } });
  assert.equal(status, 409);
});
