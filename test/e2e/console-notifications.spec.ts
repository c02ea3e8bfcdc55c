import { expect } from '@playwright/test';
import { answer, startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { sendAlert, serveApp, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { fillLogin, findFaults, logIn } from './support/page.ts';
import { refuseOnce, startPager } from './support/pager.ts';

/** Starts an app with an alert that was given up, because the receiver rejected its first delivery. */
const start = async (scope: Scope) => {
  const app = await serveApp(scope, { settings: await startPager(scope, refuseOnce) });
  await sendAlert(app, { message: 'refused once', level: 'ERROR' });
  return app;
};

test('deliveries show the text of an alert that was given up, and a retry delivers it', async ({
  scope,
  openConsole,
}) => {
  const app = await start(scope);
  const { page, complaints } = await openConsole({ app, hash: '#/notifications' });
  await expect(page.getByText('Log in to see this content')).toBeVisible();
  await logIn(page, 'admin');
  const region = page.getByRole('region', { name: 'pager' });
  await expect(region.getByText('1 alert given up', { exact: true })).toBeVisible();
  await expect(region.getByText('1 not delivered', { exact: true })).toBeVisible();
  await expect(region.getByRole('link', { name: 'refused once' })).toBeVisible();
  await expect(region.getByText('the receiver responded 400').first()).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await region.getByRole('button', { name: 'Retry: refused once' }).press('Enter');
  await expect(page.getByRole('status').getByText('Delivered.')).toBeVisible();
  await expect(region.getByText('Up to date')).toBeVisible();
  await expect(region.getByText('given up', { exact: true })).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('a receiver that rejects every delivery is shown as failing, and one button retries all alerts', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  let status = 401;
  const { url } = await startReceiver(scope, (response) => void response.writeHead(status).end());
  const app = await serveApp({
    settings: { destinations: [{ name: 'pager', type: 'webhook', url, levels: ['CRITICAL'] }] },
  });
  for (const number of [1, 2, 3]) await sendAlert(app, { message: `alert ${number}`, level: 'CRITICAL' });
  const { page } = await openConsole({ app, hash: '#/notifications' });
  await logIn(page, 'admin');
  const region = page.getByRole('region', { name: 'pager' });
  await expect(region.getByText(/^Failing since /)).toBeVisible();
  await expect(region.getByText('3 alerts waiting')).toBeVisible();
  await expect(region.getByRole('link', { name: 'alert 2' })).toBeVisible();
  await expect(region.getByText(new URL(url).origin)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  status = 200;
  await region.getByRole('button', { name: 'Retry all now: pager' }).click();
  await expect(page.getByRole('status').getByText('Retrying 3 alerts.')).toBeVisible();
  await expect(region.getByText('Up to date')).toBeVisible();
});

test('an expired session asks for a login, and the action then continues', async ({ scope, openConsole }) => {
  const app = await start(scope);
  const { page } = await openConsole({ app, hash: '#/notifications' });
  await logIn(page, 'admin');
  const retry = page.getByRole('button', { name: 'Retry: refused once' });
  await expect(retry).toBeVisible();
  let isRefused = false;
  await page.route('**/retry', async (route) => {
    if (isRefused) return route.continue();
    isRefused = true;
    return route.fulfill({ status: 401, body: '{"error":"Token expired"}' });
  });
  await retry.click();
  await expect(page.getByText('Your session has expired.')).toBeVisible();
  await fillLogin(page, 'admin');
  await expect(page.getByRole('status').getByText('Delivered.')).toBeVisible();
});

test('a Reader sees the delivery status of destinations, and no way to change them', async ({ openConsole }) => {
  const settings = { destinations: [{ name: 'phone', type: 'webhook', url: 'http://127.0.0.1:9' }] };
  const { page } = await openConsole({ hash: '#/deliveries', settings });
  await expect(page.getByRole('heading', { level: 1, name: 'Notifications' })).toBeVisible();
  await logIn(page, 'reader');
  const panel = page.getByRole('region', { name: 'phone', exact: true });
  await expect(panel).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Send a test' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'New destination' })).toHaveCount(0);
  await page.goto('/console/#/nowhere');
  await expect(page.getByRole('heading', { name: 'Screen not found' })).toBeVisible();
});

const destination = (name: string, url: string, more: object = {}) => ({
  name,
  type: 'webhook',
  url,
  notify: 'incidents',
  groupSeconds: 0,
  ...more,
});

const silence = async (app: TestApp, body: object): Promise<void> => {
  const { status } = await app.request('POST', '/api/silences', { token: await app.login('reader'), body });
  expect(status).toBe(201);
};

test("a destination's panel shows its rules and due notifications with reasons, and retries a notification", async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const [phone, chat] = [await startReceiver(scope), await startReceiver(scope, answer(503))];
  const app = await serveApp({
    settings: {
      destinations: [
        destination('phone', phone.url, { repeat: 30, levels: ['CRITICAL'] }),
        destination('boss', phone.url, { after: 15 }),
        destination('chat', chat.url),
      ],
    },
  });
  await silence(app, { match: { source: 'cert' }, endsAt: '2090-01-01T00:00:00Z' });
  await sendAlert(app, { source: 'db', level: 'CRITICAL', message: 'replication stopped' });
  await sendAlert(app, { source: 'cert', level: 'CRITICAL', message: 'certificate ends' });
  const { page, complaints } = await openConsole({ app, hash: '#/notifications' });
  await logIn(page, 'admin');
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  await expect(
    region('phone').getByText('incidents that are opened, raised or resolved of level CRITICAL'),
  ).toBeVisible();
  await expect(region('phone').getByText('every 30 min until the incident is acknowledged')).toBeVisible();
  await expect(region('phone').getByText(/^Reminder · in 29 min .*, unless acknowledged by then$/)).toBeVisible();
  await expect(region('phone').getByText('Opened · silenced')).toBeVisible();
  await expect(region('phone').getByText('Next 2 notifications', { exact: true })).toBeVisible();
  await expect(region('boss').getByText('15 min, unless the incident is acknowledged')).toBeVisible();
  await expect(region('boss').getByText(/^Opened · in 14 min .*, unless acknowledged by then$/)).toBeVisible();
  await expect(region('chat').getByText(/^Opened · retry \d+ .*: the receiver responded 503$/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  chat.behave(answer(200));
  await region('chat').getByRole('button', { name: 'Retry: replication stopped' }).press('Enter');
  await expect(page.getByRole('status').getByText('Delivered.')).toBeVisible();
  await expect(region('chat').getByText(/retry/)).toHaveCount(0);
  await region('boss').getByRole('link', { name: 'certificate ends' }).click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  await expect(drawer.getByText('Not notified yet: silenced')).toHaveCount(3);
  await drawer.getByRole('link', { name: 'the silence' }).click();
  await expect(page.getByRole('dialog', { name: 'Silence', exact: true }).getByText('source cert')).toBeVisible();
  expect(complaints).toEqual([]);
});

test("a test shows the receiver's response, including a refusal", async ({ scope, serveApp, openConsole }) => {
  const receiver = await startReceiver(scope, (response) => void response.writeHead(403).end('unknown <b>token</b>'));
  const app = await serveApp({ settings: { destinations: [destination('phone', receiver.url)] } });
  const { page } = await openConsole({ app, hash: '#/notifications' });
  await logIn(page, 'admin');
  const status = page.getByRole('region', { name: 'phone' }).getByRole('status');
  await page.getByRole('button', { name: 'Send a test: phone' }).press('Enter');
  await expect(status).toHaveText(/^The test was not delivered:\s*403\s+unknown <b>token<\/b>$/);
  expect(await findFaults(page)).toEqual([]);
  receiver.behave((response) => void response.end('thanks'));
  await page.getByRole('button', { name: 'Send a test: phone' }).click();
  await expect(status).toHaveText(/^The receiver accepted the test\. Response:\s*200\s+thanks$/);
  expect(receiver.requests).toHaveLength(2);
  await page.getByRole('link', { name: 'New destination' }).click();
  await expect(page.getByRole('dialog', { name: 'New destination' })).toBeVisible();
});

test('sent notifications are listed by destination in pages, with incident and result, and on the incident', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const [phone, chat] = [await startReceiver(scope), await startReceiver(scope, answer(400))];
  const destinations = [destination('phone', phone.url), destination('chat', chat.url)];
  const app = await serveApp({ settings: { destinations } });
  await sendAlert(app, { source: 'db', level: 'ERROR', message: 'slow queries' });
  const { page, complaints } = await openConsole({ app, hash: '#/notifications' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Sent' }).click();
  const table = page.getByRole('table', { name: 'Sent' });
  await expect(table.getByRole('row')).toHaveCount(3);
  await expect(table.getByText('the receiver responded 400')).toBeVisible();
  await page.getByLabel('Destination').selectOption('phone');
  await expect(table.getByRole('row')).toHaveCount(2);
  await expect(table.getByRole('row').last()).toHaveText(/phone.*Opened.*#1 slow queries.*Delivered/);
  await sendAlert(app, { source: 'db', level: 'CRITICAL', message: 'slow queries' });
  await expect(table.getByRole('row')).toHaveCount(3);
  await expect(table.getByRole('row').nth(1)).toHaveText(/Raised/);
  expect(await findFaults(page)).toEqual([]);
  await table.getByRole('link').first().click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  await expect(drawer.getByText(/^Raised, /)).toHaveCount(2);
  const said = (text: RegExp) => drawer.getByRole('listitem').filter({ hasText: text });
  await expect(said(/Notified phone: opened$/)).toBeVisible();
  await expect(said(/Could not notify chat: opened · the receiver responded 400/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await drawer.getByRole('link', { name: 'All notifications of this incident' }).click();
  await expect(table.getByRole('row')).toHaveCount(5);
  await page.getByRole('button', { name: 'Incident #1' }).click();
  await expect(page).toHaveURL(/#\/notifications\?view=sent$/);
  expect(complaints).toEqual([]);
});

test('the list of sent notifications says that older notifications follow until all are loaded', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const phone = await startReceiver(scope);
  const app = await serveApp({ settings: { destinations: [destination('phone', phone.url)] } });
  for (let index = 0; index < 51; index += 1)
    await sendAlert(app, { source: `source ${index}`, level: 'ERROR', message: 'slow queries' });
  await waitUntil('all notifications are sent', () => phone.requests.length === 51);
  const { page } = await openConsole({
    app,
    hash: '#/notifications?view=sent',
    viewport: { width: 1280, height: 400 },
  });
  // The next page loads when the end of the list is near. The response is held back until the test sees the count.
  let isSeen = false;
  await page.route(/[?&]limit=100\b/, async (route) => {
    await waitUntil('the count is seen', () => isSeen);
    await route.continue();
  });
  await logIn(page, 'admin');
  await expect(page.getByText('50 notifications, older notifications follow')).toBeVisible();
  isSeen = true;
  await expect(page.getByText('51 notifications', { exact: true })).toBeVisible();
});

test('the screen shows who is on call now and next, and a Reader adds an override until a time', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const { url } = await startReceiver(scope);
  const members = ['anna', 'ben'];
  const app = await serveApp({
    settings: {
      destinations: members.map((name) => destination(name, url)),
      rotations: [{ name: 'oncall', members, handover: '0 9 * * 1', timeZone: 'Europe/Berlin' }],
    },
  });
  const { json } = await app.request<{ data: { member: string }[] }>('GET', '/api/oncall');
  const present = json.data[0]?.member ?? '';
  const other = present === 'anna' ? 'ben' : 'anna';
  const { page, complaints } = await openConsole({ app, hash: '#/notifications' });
  const panel = page.getByRole('region', { name: 'On call: oncall' });
  await expect(panel.getByText(present, { exact: true })).toBeVisible();
  await expect(panel.getByText(new RegExp(`^Then ${other}, from `))).toBeVisible();
  await logIn(page, 'reader');
  await panel.getByRole('button', { name: 'Change who is on call: oncall' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'On call: oncall' });
  await expect(dialog.getByLabel('Member')).toHaveValue(other);
  await dialog.getByLabel('Until').fill('2000-01-01T08:00');
  await dialog.getByRole('button', { name: 'Override' }).click();
  await expect(dialog.getByRole('alert')).toHaveText('Choose an end in the future.');
  expect(await findFaults(page)).toEqual([]);
  await dialog.getByLabel('Until').fill(new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16));
  await dialog.getByLabel('Reason').fill('swapped');
  await dialog.getByRole('button', { name: 'Override' }).click();
  await expect(page.getByRole('status').getByText(new RegExp(`^${other} is on call until `))).toBeVisible();
  await expect(dialog).toHaveCount(0);
  await expect(panel.getByText(/is on call from .*, set by reader/)).toBeVisible();
  await expect(panel.getByText(other, { exact: true })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await panel.getByRole('button', { name: `End the override: ${other}` }).click();
  await expect(panel.getByText(present, { exact: true })).toBeVisible();
  await expect(panel.getByText(/is on call from/)).toHaveCount(0);
  // Another user adds an override.
  const token = await app.login('admin');
  const endsAt = new Date(Date.now() + 86_400_000).toISOString();
  const body = { rotation: 'oncall', member: other, endsAt };
  expect((await app.request('POST', '/api/oncall/overrides', { token, body })).status).toBe(201);
  await expect(panel.getByText(/is on call from .*, set by admin/)).toBeVisible();
  const covered = panel.getByText('(replaced, at least in part, by a newer override)');
  await expect(covered).toHaveCount(0);
  const newer = { ...body, member: present };
  expect((await app.request('POST', '/api/oncall/overrides', { token, body: newer })).status).toBe(201);
  await expect(covered).toHaveCount(1);
  expect(await findFaults(page)).toEqual([]);
  expect(complaints.filter((each) => !/status of 403 .*\/api\/deliveries$/.test(each))).toEqual([]);
});
