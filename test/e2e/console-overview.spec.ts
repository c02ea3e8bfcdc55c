import { expect } from '@playwright/test';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn, waitUntilLoaded } from './support/page.ts';
import { startPager } from './support/pager.ts';

test('the overview shows health in words, charts, disks, processes and alerts', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk', hostname: 'web-1' });
  const { page, complaints } = await openConsole({ app });
  await expect(page.getByText(/Nobody is notified yet|needs? attention/).first()).toBeVisible();
  for (const name of ['CPU', 'Memory', 'Disks', 'Top processes', 'Latest alerts']) {
    await expect(page.getByRole('heading', { name }).first()).toBeVisible();
  }
  // Screen readers read one sentence for each series.
  await expect(page.getByText(/^busy: now .* %, lowest .* %, highest .* %\.$/)).toBeAttached();
  await expect(page.getByText('sda1 is full')).toHaveCount(2);
  const health = page.getByRole('region', { name: 'Health' });
  for (const fact of [/Machine up for\s*\d+ (days?|h|min|s)\b/, /Version\s*signalbox /, /Running for\s*\d+ s/])
    await expect(health.getByText(fact).first()).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'PID' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a quiet server shows on every screen that it notifies nobody', async ({ openConsole }) => {
  const destinations = [{ name: 'pager', type: 'webhook', url: 'http://127.0.0.1:9/' }];
  const { page, complaints } = await openConsole({ settings: { destinations, quiet: true } });
  const banner = page.getByText('Warning: the setting quiet is on.');
  await expect(banner).toBeVisible();
  await expect(
    page.getByRole('link', { name: 'The setting quiet is on: nobody is notified', exact: true }),
  ).toBeVisible();
  await expect(page.getByText('Nobody is notified yet')).toHaveCount(0);
  await page.goto('/console/#/notifications');
  await logIn(page, 'admin');
  await expect(page.getByText('Nothing is sent')).toBeVisible();
  await expect(page.getByText('No destinations')).toHaveCount(0);
  await expect(banner).toBeVisible();
  expect(complaints).toEqual([]);
});

test('without destinations, the overview says that nobody is notified, and links to the form', async ({
  openConsole,
}) => {
  const { page, app, complaints } = await openConsole();
  const health = page.getByRole('region', { name: 'Health' });
  await logIn(page, 'admin');
  await expect(health.getByText('Nobody is notified yet')).toBeVisible();
  await expect(health.getByText('Everything looks fine')).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await health.getByRole('link', { name: 'Add a destination' }).click();
  await expect(page.getByRole('dialog', { name: 'New destination' })).toBeVisible();
  await page.keyboard.press('Escape');
  const token = await app.login('admin');
  const body = { type: 'webhook', url: 'http://127.0.0.1:9/' };
  expect((await app.request('PUT', '/api/destinations/chat', { token, body })).status).toBe(201);
  await page.evaluate('location.hash = "#/"');
  await expect(health.getByText(/Everything looks fine|attention/)).toBeVisible();
  await expect(health.getByText('Nobody is notified yet')).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('the address contains the range of the charts', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
  await page.getByRole('button', { name: '24 h' }).click();
  await page.waitForURL('**/console/#/?range=day');
  await page.reload();
  await expect(page.getByRole('button', { name: '24 h', pressed: true })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('button', { name: '10 min', pressed: true })).toBeVisible();
  expect(complaints).toEqual([]);
});

test('new alerts appear on the overview without a reload', async ({ openConsole }) => {
  const { page, app } = await openConsole();
  await expect(page.getByText('No alerts yet')).toBeVisible();
  await sendAlert(app, { message: '<b>bold</b> & more' });
  await expect(page.getByText('<b>bold</b> & more')).toHaveCount(2);
});

test('the health shown covers open incidents and failing deliveries, as on the server', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({ settings: await startPager(scope) });
  const { page } = await openConsole({ app });
  const health = page.getByRole('region', { name: 'Health' });
  const firing = (name: string) =>
    sendAlert(app, { message: `${name} is down`, level: 'CRITICAL', status: 'firing', key: name });
  for (const name of ['web-1', 'web-2']) await firing(name);
  await expect(health.getByRole('link', { name: '2 critical incidents are open' })).toBeVisible();
  await expect(health.getByText(/parked|not delivered|given up/)).toBeVisible();
  await expect(page.getByText('Everything looks fine')).toHaveCount(0);
  await health.getByRole('link', { name: '2 critical incidents are open' }).click();
  await page.waitForURL('**/#/incidents');
  await expect(page.getByRole('table', { name: 'Incidents' }).getByText('web-1 is down')).toBeVisible();
});

test('the overview sends no requests while it is connected', async ({ openConsole }) => {
  const { page, app } = await openConsole();
  const health = page.getByRole('region', { name: 'Health' });
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(page.getByText(/^busy: now .* %/)).toBeAttached();
  const seconds = async () => Number(/Running for\s*(\d+) s/.exec((await health.textContent()) ?? '')?.[1]);
  const pass = async (count: number) => {
    const from = await seconds();
    await expect.poll(seconds).toBeGreaterThanOrEqual(from + count);
  };
  await pass(2);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await sendAlert(app, { message: 'while it is watched' });
  await expect(page.getByText('while it is watched')).toHaveCount(2);
  await pass(5);
  expect(asked).toEqual([]);
});

test('charts keep the readings of a response that arrives after newer events', async ({ openConsole }) => {
  const { page, app } = await openConsole({ hash: '#/nowhere' });
  const count = async () => (await app.request<{ count: number }>('GET', '/api/history?step=1')).json.count;
  await expect.poll(count).toBeGreaterThan(3);
  const ofEvents = page.getByText(/^used: now /);
  await page.route('**/api/history?step=1*', async (route) => {
    const response = await route.fetch();
    const history = await response.json();
    history.memoryUsed[0] = history.memoryTotal[0];
    await ofEvents.waitFor({ state: 'attached' });
    await route.fulfill({ response, json: history });
  });
  await page.evaluate('location.hash = "#/?range=day"');
  await page.getByRole('button', { name: '10 min' }).click();
  await expect(page.getByText(/^used: now .* highest 100\.0 %/)).toBeAttached();
});

const withoutLogin = [
  '',
  '#/incidents',
  '#/alerts',
  '#/watches',
  '#/heartbeats',
  '#/silences',
  '#/tasks',
  '#/processes',
  '#/notifications',
  '#/audit',
  '#/commands',
  '#/settings',
];

test('a screen that needs a login never looks empty or healthy without a login', async ({ serveApp, openConsole }) => {
  const app = await serveApp({ settings: { access: 'login' } });
  const token = await app.login('admin');
  await app.request('POST', '/api/alert', { token, body: { level: 'ERROR', message: 'the disk is full' } });
  const { page, complaints } = await openConsole({ app });
  for (const hash of withoutLogin) {
    await page.evaluate(`location.hash = '${hash || '#/'}'`);
    const main = page.getByRole('main');
    await expect(main.getByText('Log in to see this content').first()).toBeVisible();
    await waitUntilLoaded(page);
    await expect(main).not.toContainText(/No (open )?\w+( yet)?\.?$|Collecting|looks fine|Nothing/m);
  }
  await page.evaluate('location.hash = "#/"');
  for (const name of ['Health', 'Open incidents', 'Latest alerts', 'Top processes', 'Machine over time']) {
    await expect(page.getByRole('region', { name }).getByText('Log in to see this content')).toBeVisible();
  }
  await logIn(page, 'admin');
  await expect(page.getByText('the disk is full').first()).toBeVisible();
  await expect(page.getByText(/^busy: now .* %/)).toBeAttached();
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(
    page.getByRole('region', { name: 'Open incidents' }).getByText('Log in to see this content'),
  ).toBeVisible();
  await expect(page.getByText(/^busy: now .* %/)).toHaveCount(0);
  await expect(page.getByText('the disk is full')).toHaveCount(0);
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
});
