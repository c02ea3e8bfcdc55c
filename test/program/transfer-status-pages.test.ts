import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitForIncident } from '../incidents/support/incidents.ts';
import { onePage, putPage } from '../status-pages/support/pages.ts';
import { publicUrl, subscribe, toMail } from '../status-pages/support/subscribers.ts';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { end, header } from '../support/export-lines.ts';
import { startMailServer } from '../support/mail-server.ts';
import { adminToken } from '../support/outbox.ts';
import { toSkipPostgres } from '../support/postgres/installation.ts';
import { runCommand } from '../support/program.ts';
import type { Scope } from '../support/scope.ts';
import { createFiles, createTables, exportFrom, importInto, type Place } from '../support/transfer.ts';

const skip = toSkipPostgres();

const id = '019c1e5a-7c11-4b5e-a1f0-3d0a7d6e2c55';
const subscriber = { id, page: 'main', address: 'anna@example.com', at: 1_750_000_000_000 };
const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Fills a store with a page and an announcement. */
const fill = async (t: Scope, { settings }: Place) => {
  const app = await startApp(t, { settings: { ...settings, timeZone: 'UTC' } });
  const token = await adminToken(app);
  await putPage(app, token, 'main', onePage);
  await sendAlert(app, { source: 'db', message: 'x' });
  await waitForIncident(app, { state: 'open' });
  const body = { page: 'main', title: 'Slow', text: 'Slow.', state: 'investigating' };
  const { json } = await app.request('POST', '/api/incidents/1/announcements', { token, body });
  await app.close();
  return json;
};

const read = async (t: Scope, { settings }: Place) => {
  const app = await startApp(t, { settings: { ...settings, timeZone: 'UTC' } });
  const token = await adminToken(app);
  const { json } = await app.request<{ data: object[] }>('GET', '/api/announcements', { token });
  const page = await app.request('GET', '/status/main');
  assert.match(page.text, /<h2>Slow<\/h2>/);
  const path = '/api/status-pages/main/subscribers';
  const { json: subscribers } = await app.request<{ data: { address: string }[] }>('GET', path, { token });
  await app.close();
  return { announcements: json.data, addresses: subscribers.data.map(({ address }) => address) };
};

test('announcements and subscribers move from files to a database and back', { skip }, async (t) => {
  const from = createFiles(t);
  const announcement = await fill(t, from);
  const lines = await exportFrom(from);
  const withSubscriber = lines.replace(end, `${line({ subscribers: subscriber })}${end}`);
  const database = await createTables(t);
  await importInto(database, withSubscriber);
  const expected = { announcements: [announcement], addresses: ['anna@example.com'] };
  assert.deepEqual(await read(t, database), expected);
  const back = createFiles(t);
  await importInto(back, await exportFrom(database));
  assert.deepEqual(await read(t, back), expected);
});

test('a reader who has left stays away in another store', async (t) => {
  const mails = await startMailServer(t);
  const settings = { timeZone: 'UTC', publicUrl, destinations: [toMail(mails)], jwtSecret: 'x'.repeat(32) };
  const from = createFiles(t);
  const before = await startApp(t, { settings: { ...from.settings, ...settings } });
  const token = await adminToken(before);
  await putPage(before, token, 'main', onePage);
  const link = await subscribe(before, mails, 'anna@example.com');
  const path = '/api/status-pages/main/subscribers';
  const { json } = await before.request<{ data: { id: string }[] }>('GET', path, { token });
  const [anna] = json.data;
  assert.equal((await before.request('DELETE', `${path}/${anna?.id}`, { token })).status, 200);
  await before.close();
  const to = createFiles(t);
  await importInto(to, await exportFrom(from));
  const after = await startApp(t, { settings: { ...to.settings, ...settings } });
  assert.equal((await after.request('POST', link)).status, 410);
  const left = await after.request<{ count: number }>('GET', path, { token: await adminToken(after) });
  assert.equal(left.json.count, 0);
});

test('subscribers with line breaks, and repeated ids, are not imported', async (t) => {
  for (const [lines, reason] of [
    [[{ ...subscriber, address: 'a@example.com\nBcc: b@example.com' }], /subscribers.address must be/],
    [[subscriber, subscriber], /subscribers.id was already used/],
    [[{ ...subscriber, page: '../x' }], /subscribers.page/],
  ] as const) {
    const input = [header, ...lines.map((subscribers) => JSON.stringify({ subscribers })), end, ''].join('\n');
    const { code, stderr } = await runCommand(['import', ...createFiles(t).flags], { input });
    assert.equal(code, 1);
    assert.match(stderr, reason);
  }
});
