import { hostname } from 'node:os';
import { expect, type Page } from '@playwright/test';
import { openEvents } from '../support/events.ts';
import { waitUntil } from '../support/wait.ts';
import { sendAlert, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { fillLogin, findFaults, logIn } from './support/page.ts';

const alerts = [
  { source: 'cert', level: 'WARNING', message: 'certificate ends in 6 days', hostname: 'edge' },
  { source: 'backup', level: 'ERROR', message: 'disk is 91 % full', hostname: 'web-1' },
  { source: 'backup', level: 'ERROR', message: 'disk is 92 % full', hostname: 'web-1' },
  { source: 'db', level: 'CRITICAL', message: 'replication stopped', hostname: 'db-1', key: 'replication' },
];

const sendAll = async (app: TestApp): Promise<void> => {
  for (const alert of alerts) await sendAlert(app, alert);
};

const table = (page: Page) => page.getByRole('table', { name: 'Incidents' });

const row = (page: Page, title: string) => table(page).getByRole('row').filter({ hasText: title });

test("alerts appear as incidents, worst first, and the page's title and icon show the number of open incidents", async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await expect(page.getByText('No open incidents')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await sendAll(app);
  await expect(table(page).getByRole('row')).toHaveCount(4);
  await expect(table(page).getByRole('link')).toHaveText([
    /replication stopped/,
    /disk is 92 % full/,
    /certificate ends in 6 days/,
  ]);
  await expect(row(page, 'disk is 92 % full').getByRole('cell', { name: '2', exact: true })).toBeVisible();
  await expect(page).toHaveTitle('(3) Incidents · signalbox');
  await expect(page.locator('link[rel=icon]')).toHaveAttribute('href', /favicon-open\.svg$/);
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('an incident is acknowledged, commented on, followed up by a task, resolved, and reopened by undo', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAll(app);
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'admin');
  await row(page, 'replication stopped').getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  await drawer.getByRole('button', { name: 'Acknowledge' }).click();
  await expect(drawer.getByText('Acknowledged by admin').first()).toBeVisible();
  await drawer.getByRole('button', { name: 'Comment…' }).click();
  const asked = page.getByRole('dialog', { name: 'Comment on: replication stopped' });
  await asked.getByLabel('Comment').fill('the replica is being rebuilt');
  await asked.getByRole('button', { name: 'Add comment' }).click();
  await expect(drawer.getByText('the replica is being rebuilt')).toBeVisible();
  await drawer.getByRole('button', { name: 'Create task' }).click();
  await expect(drawer.getByRole('link', { name: /^Task \d/ })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await drawer.getByRole('button', { name: 'Resolve' }).click();
  await expect(drawer.getByRole('button', { name: 'Reopen' })).toBeVisible();
  const said = drawer.locator('.toast').filter({ hasText: 'Resolved: replication stopped' });
  await said.getByRole('button', { name: 'Undo' }).click();
  await expect(drawer.getByRole('button', { name: 'Resolve' })).toBeVisible();
  await expect(drawer.locator('.event')).toContainText(
    ['Reopened', 'Resolved', 'Task created', 'Comment', 'Acknowledged', 'Opened'],
    { ignoreCase: false },
  );
  expect(complaints).toEqual([]);
});

test('selected incidents are acknowledged together, and can be snoozed until a time', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAll(app);
  const { page } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'reader');
  await page.getByLabel('Select disk is 92 % full').check();
  await page.getByLabel('Select certificate ends in 6 days').check();
  const bar = page.getByRole('toolbar', { name: '2 selected' });
  await bar.getByRole('button', { name: 'Acknowledge' }).click();
  await expect(table(page).getByText('Acknowledged by reader')).toHaveCount(2);
  await expect(page).toHaveTitle('(1) Incidents · signalbox');
  await page.getByLabel('Select replication stopped').check();
  await page.getByRole('button', { name: 'Snooze…' }).click();
  await page.getByRole('button', { name: 'For 4 h' }).click();
  await expect(row(page, 'replication stopped').getByText(/^Snoozed until /)).toBeVisible();
  await expect(page).toHaveTitle('Incidents · signalbox');
});

test('single keys move between incidents and change them', async ({ serveApp, openConsole }) => {
  const app = await serveApp({});
  await sendAll(app);
  const { page } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'admin');
  await expect(table(page).getByRole('row')).toHaveCount(4);
  await page.locator('body').press('j');
  await page.keyboard.press('j');
  await expect(row(page, 'disk is 92 % full').getByRole('link')).toBeFocused();
  await page.keyboard.press('a');
  await expect(row(page, 'disk is 92 % full').getByText('Acknowledged by admin')).toBeVisible();
  await page.keyboard.press('s');
  await expect(page.getByRole('dialog', { name: 'Snooze: disk is 92 % full' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  await expect(page.getByText('Created task 1.')).toBeVisible();
  await page.keyboard.press('c');
  await page.keyboard.type('looks like the log folder');
  await page.getByRole('button', { name: 'Add comment' }).press('Enter');
  await expect(page.getByText('Comment added.')).toBeVisible();
  await page.keyboard.press('r');
  await expect(row(page, 'disk is 92 % full')).toHaveCount(0);
});

test('single keys change selected incidents while a checkbox has the focus, and skip resolved incidents', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAll(app);
  const { page } = await openConsole({ app, hash: '#/incidents?state=all' });
  await logIn(page, 'admin');
  await page.getByLabel('Select replication stopped').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('r');
  await expect(row(page, 'replication stopped').getByText('Resolved')).toBeVisible();
  await expect(page.locator('.toast')).toHaveText([/^Resolved: replication stopped/]);
  await page.keyboard.press('r');
  await page.keyboard.press('Space');
  await page.getByLabel('Select disk is 92 % full').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('a');
  await expect(row(page, 'disk is 92 % full').getByText('Acknowledged by admin')).toBeVisible();
  await expect(page.locator('.toast')).toHaveText([
    /^Resolved: replication stopped/,
    /^Acknowledged: disk is 92 % full/,
  ]);
});

test("undo restores an incident's acknowledgement with its end and comment", async ({ serveApp, openConsole }) => {
  const app = await serveApp({});
  await sendAlert(app, { source: 'db', level: 'ERROR', message: 'slow queries' });
  const token = await app.login('admin');
  const until = '2090-01-01T00:00:00.000Z';
  const body = { until, comment: 'it is being moved' };
  await expect(async () => {
    const { status } = await app.request('POST', '/api/incidents/1/acknowledge', { token, body });
    expect(status).toBe(200);
  }).toPass();
  const { page } = await openConsole({ app, hash: '#/incidents' });
  await logIn(page, 'admin');
  await row(page, 'slow queries').getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  for (const [button, said] of [
    ['Reopen', 'Reopened'],
    ['Resolve', 'Resolved'],
  ] as const) {
    await drawer.getByRole('button', { name: button, exact: true }).click();
    const toast = page.locator('.toast').filter({ hasText: `${said}: slow queries` });
    await toast.getByRole('button', { name: 'Undo' }).click();
    await expect(async () => {
      const { json } = await app.request('GET', '/api/incidents/1');
      expect([json['state'], json['acknowledgedUntil'], json['acknowledgedComment']]).toEqual([
        ...['acknowledged', until, body.comment],
      ]);
    }).toPass();
  }
});

test('an alert links to its incident and back, and the overview shows open incidents first, with who acknowledged them', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAll(app);
  const { page } = await openConsole({ app, hash: '#/' });
  const panel = page.getByRole('region', { name: 'Open incidents (3)' });
  await expect(panel.getByRole('link', { name: 'replication stopped' })).toBeVisible();
  await panel.getByRole('link', { name: 'replication stopped' }).click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  await drawer.getByRole('link', { name: 'the alert' }).click();
  const alert = page.getByRole('dialog', { name: 'Alert' });
  await alert.getByRole('link', { name: /#\d/ }).click();
  await expect(drawer.getByText('replication stopped').first()).toBeVisible();
  await page.keyboard.press('Escape');
  const token = await app.login('admin');
  await page.goto('/console/#/');
  for (const number of [1, 2, 3]) await app.request('POST', `/api/incidents/${number}/acknowledge`, { token });
  const taken = page.getByRole('region', { name: 'Open incidents' }).getByRole('listitem');
  await expect(taken).toHaveText([
    /replication stopped.*Acknowledged by admin/,
    /disk is 92 % full/,
    /Acknowledged by admin/,
  ]);
  await expect(page.getByText('Nothing new needs attention')).toBeVisible();
  await app.request('POST', '/api/incidents/3/resolve', { token });
  await expect(taken).toHaveCount(2);
});

test('incidents that are acknowledged while the overview loads are shown as acknowledged', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAll(app);
  const token = await app.login('admin');
  const events = await openEvents(scope, app.url, 'incidents', { token });
  const { page } = await openConsole({ app, hash: '#/items' });
  let reads = 0;
  let late: Promise<unknown> | undefined;
  await page.route('**/api/incidents?state=open*', async (route) => {
    const response = await route.fetch();
    reads += 1;
    const number = reads;
    if (number <= 3) {
      await app.request('POST', `/api/incidents/${number}/acknowledge`, { token });
      const hasCome = () => events.events().some(({ data }) => data['number'] === number && data['state'] !== 'open');
      await waitUntil('the event of the action has arrived', hasCome);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    // The response is older than the event, but arrives later.
    await route.fulfill({ response });
    if (number === 3) late = page.evaluate(() => new Promise(requestAnimationFrame));
  });
  await page.goto('/console/#/');
  await page.reload();
  await expect.poll(() => late !== undefined).toBe(true);
  await late;
  await expect(page.getByRole('region', { name: 'Open incidents' }).getByText('Acknowledged by admin')).toHaveCount(3);
});

test('resolved incidents have their own list, and a filter without matches says so', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  await sendAlert(app, { source: 'db', level: 'ERROR', message: 'slow queries', key: 'slow' });
  await sendAlert(app, { source: 'db', level: 'INFO', message: 'fast again', key: 'slow', status: 'resolved' });
  const { page } = await openConsole({ app, hash: '#/incidents' });
  await expect(page.getByText(/^Last incident resolved /)).toBeVisible();
  await page.getByRole('button', { name: 'Resolved' }).click();
  await expect(table(page).getByRole('row')).toHaveCount(2);
  await page.getByLabel('Title contains, or #number').fill('nothing like this');
  await expect(page.getByText('No matching incidents')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(table(page).getByRole('row')).toHaveCount(2);
});

test("a silenced incident's row shows in full who acknowledged it, in a window of 1280 px", async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  const token = await app.login('admin');
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const silence = { match: { source: 'db' }, endsAt, comment: 'being moved' };
  expect((await app.request('POST', '/api/silences', { token, body: silence })).status).toBe(201);
  await sendAlert(app, { source: 'db', level: 'ERROR', message: 'slow queries' });
  const acknowledged = await app.request('POST', '/api/incidents/1/acknowledge', { token, body: {} });
  expect(acknowledged.status).toBe(200);
  const { page } = await openConsole({ app, hash: '#/incidents', viewport: { width: 1280, height: 900 } });
  const cell = row(page, 'slow queries').getByRole('cell').last();
  await expect(cell).toHaveText(/Silenced\s*Acknowledged by admin/);
  const cut = await cell.evaluate((element) =>
    [element, ...element.querySelectorAll('.chip, .chip > span')]
      .filter((each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight)
      .map((each) => each.outerHTML),
  );
  expect(cut).toEqual([]);
});

test('an incident about this machine shows a picture of the machine at that time after a login', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({});
  const { page, complaints } = await openConsole({ app, hash: '#/incidents' });
  await expect(async () => {
    const { json } = await app.request<{ count: number }>('GET', '/api/history?step=1');
    // The chart needs two steps.
    expect(json.count).toBeGreaterThan(5);
  }).toPass();
  await sendAlert(app, { source: 'demo', level: 'CRITICAL', message: 'the demo has failed', hostname: hostname() });
  await row(page, 'the demo has failed').getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'Incident' });
  // The picture appears a moment after the incident, without a reload.
  await drawer.getByText('Picture of the machine').click();
  await drawer.getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'reader');
  const busiest = drawer.getByRole('table', { name: 'Most CPU' });
  await expect(busiest.getByRole('row')).not.toHaveCount(1);
  await expect(drawer.getByRole('table', { name: 'Most memory' })).toContainText('node');
  await expect(drawer.getByRole('figure', { name: 'CPU' }).locator('canvas')).toBeVisible();
  await expect(drawer.getByRole('region', { name: 'Disks' })).toContainText('% full');
  await expect(drawer.getByRole('region', { name: 'System journal' })).toBeVisible();
  await expect(drawer.locator('.event').first()).toContainText('Picture taken');
  expect(await findFaults(page)).toEqual([]);
  // The request without a login was refused.
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
});
