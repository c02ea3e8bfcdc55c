import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, type Page } from '@playwright/test';
import type { Scope } from '../support/scope.ts';
import { serveApp, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const longName = `nightly-${'x'.repeat(56)}`;

/** Server shared by the tests in this file. Each test uses its own heartbeats. */
const shared: { app?: TestApp; steps: (() => unknown)[] } = { steps: [] };

const startShared = async (): Promise<TestApp> => {
  const scope: Scope = { after: (step) => void shared.steps.push(step) };
  const heartbeats = [
    { name: 'report', schedule: '30 3 * * 1-5', timeZone: 'Asia/Tokyo', grace: 600 },
    { name: longName, period: 86_400, open: true },
  ];
  shared.app ??= await serveApp(scope, { settings: { heartbeats } });
  return shared.app;
};

test.afterAll(async () => {
  // The process can run another file and then return to this file.
  delete shared.app;
  for (const step of shared.steps.splice(0).reverse()) await step();
});

const create = async (app: TestApp, name: string, body: object): Promise<string> => {
  const { status, json } = await app.request('PUT', `/api/heartbeats/${name}`, {
    token: await app.login('admin'),
    body,
  });
  expect(status).toBe(201);
  return String(json['uuid']);
};

const ping = async (app: TestApp, address: string, body?: string): Promise<void> => {
  const { ok } = await fetch(`${app.url}/ping/${address}`, { method: 'POST', ...(body && { body }) });
  expect(ok).toBe(true);
};

const table = (page: Page) => page.getByRole('table', { name: 'Heartbeats' });
const row = (page: Page, name: string) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) });
const form = (page: Page) => page.getByRole('dialog', { name: 'New heartbeat' });
const details = (page: Page, name: string) => page.getByRole('dialog', { name: `Heartbeat ${name}`, exact: true });

test('heartbeats appear as they arrive, with due time, runs and incident, on a phone too', async ({ openConsole }) => {
  const app = await startShared();
  const backup = await create(app, 'backup', {
    schedule: '0 2 * * *',
    timeZone: 'UTC',
    description: 'nightly',
    tags: ['db'],
  });
  for (const signal of ['start', '0', 'start', '0', 'start', '3'])
    await ping(app, `${backup}/${signal}`, 'disk is full');
  const { page, complaints } = await openConsole({ app, hash: '#/heartbeats', timezoneId: 'UTC' });
  // Heartbeats are visible without a login.
  await expect(row(page, 'backup')).toHaveText(
    /Down.*backup.*nightly · db.*every day at 02:00.*down since .*, failed, exit code 3.*Incident #\d+/,
  );
  const runs = row(page, 'backup').getByRole('img');
  await expect(runs).toHaveAccessibleName(/^Last 3 runs, 1 failed, the last run took \d+ ms/);
  await expect(table(page).getByRole('row').nth(1)).toHaveText(/Down/);
  await expect(row(page, 'report')).toHaveText(
    /New.*from the config file.*Monday to Friday at 03:30 \(Asia\/Tokyo\).*no ping received yet/,
  );
  expect(await findFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  await ping(app, `${backup}/start`);
  await ping(app, `${backup}/0`);
  await expect(row(page, 'backup')).toHaveText(/Up.*succeeded .*next .*02:00/);
  await expect(runs).toHaveAccessibleName(/^Last 4 runs, 1 failed/);
  await row(page, 'backup').getByRole('link', { name: 'backup' }).click();
  await expect(details(page, 'backup').getByText(/^Only Admins see the secret address/)).toBeVisible();
  await expect(details(page, 'backup').getByText(`${app.url}/ping/backup`, { exact: true })).toBeVisible();
  await details(page, 'backup').getByText('Output').first().click();
  await expect(details(page, 'backup').getByText('disk is full').first()).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await expect(details(page, 'backup').getByRole('img', { name: 'Availability by day' })).toBeVisible();
  await expect(details(page, 'backup').getByText('89 days unknown')).toBeVisible();
  await page.goto('/console/#/heartbeats/report');
  await expect(details(page, 'report').getByText('Defined in the config file; edit it there.')).toBeVisible();
  await expect(details(page, 'report').getByRole('button', { name: 'Edit…' })).toHaveCount(0);
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(`/console/#/heartbeats/${longName}`);
  const badge = details(page, longName).getByRole('img', { name: longName });
  await expect(badge).toBeVisible();
  expect(await badge.evaluate((image) => image.getBoundingClientRect().right)).toBeLessThan(360);
  expect(complaints).toEqual([]);
});

test('a heartbeat is created, used from its copied lines, changed, paused and deleted with the keyboard alone', async ({
  openConsole,
}) => {
  const app = await startShared();
  const permissions = ['clipboard-read', 'clipboard-write'];
  const { page, complaints } = await openConsole({ app, permissions });
  await logIn(page, 'admin');
  await page.keyboard.press('g');
  await page.keyboard.press('b');
  await page.getByRole('button', { name: 'New heartbeat' }).press('Enter');
  await expect(form(page).getByLabel('Name')).toBeFocused();
  await page.keyboard.type('report');
  await page.keyboard.press('Enter');
  await expect(form(page).getByRole('alert')).toHaveText(/report is defined in the config file/);
  await form(page).getByLabel('Name').fill('job');
  await form(page).getByLabel('Every', { exact: true }).fill('2');
  await form(page).getByLabel('Unit').selectOption('hours');
  await form(page).getByLabel('Maximum run time (minutes)').fill('soon');
  await form(page).getByRole('button', { name: 'Create' }).press('Enter');
  await expect(form(page).getByRole('alert')).toHaveText('Maximum run time (minutes) must be a number.');
  await form(page).getByLabel('Maximum run time (minutes)').fill('90');
  await form(page).getByLabel('Public badge').press('Space');
  expect(await findFaults(page)).toEqual([]);
  await form(page).getByRole('button', { name: 'Create' }).press('Enter');

  const drawer = details(page, 'job');
  await expect(drawer.getByText('every 2 h; grace: 20 % of the interval, run time: 1 h 30 min at most')).toBeVisible();
  await expect(drawer.getByText('No runs yet')).toBeVisible();
  await expect(drawer.getByRole('img', { name: 'job: New' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await drawer.getByRole('button', { name: 'Copy the address', exact: true }).press('Enter');
  const readCopied = () => page.evaluate<string>('navigator.clipboard.readText()');
  const address = await readCopied();
  expect(address).toMatch(new RegExp(`^${app.url}/ping/[0-9a-f-]{36}$`));
  const lines: Record<string, string> = {};
  for (const kind of ['cron', 'systemd', 'PowerShell', 'curl']) {
    await drawer.getByRole('button', { name: kind, exact: true }).press('Enter');
    await drawer.getByRole('button', { name: `Copy the lines for ${kind}` }).press('Enter');
    await expect.poll(async () => Object.values(lines).includes(await readCopied())).toBe(false);
    lines[kind] = await readCopied();
  }
  expect(lines['PowerShell']).toBe(`& backup.cmd; Invoke-RestMethod "${address}/$LASTEXITCODE"`);
  expect(lines['cron']).toMatch(/^0 \*\/2 \* \* \* /);
  const inShell = (line = '', job = 'true') => promisify(execFile)('sh', ['-c', line.replace('backup.sh', job)]);
  await inShell(lines['curl'], 'echo 412 files');
  await expect(drawer.getByText('Up', { exact: true })).toBeVisible();
  await drawer.getByText('Output', { exact: true }).first().click();
  await expect(drawer.getByText('412 files')).toBeVisible();
  await inShell(lines['cron']?.replace('0 */2 * * * ', ''), '(exit 4)').catch(() => undefined);
  await expect(drawer.getByText(/failed, exit code 4$/)).toBeVisible();
  const [, unit = ''] = /^ExecStart=\/bin\/sh -c '(.*)'$/.exec(lines['systemd'] ?? '') ?? [];
  // Parses the line as systemd does.
  await inShell(unit.replaceAll('$$', '$'));
  await expect(drawer.getByText('Up', { exact: true })).toBeVisible();

  await drawer.getByRole('button', { name: 'Edit…' }).press('Enter');
  const edit = page.getByRole('dialog', { name: 'Edit job' });
  await expect(edit.getByLabel('Every', { exact: true })).toHaveValue('2');
  await edit.getByRole('button', { name: 'Weekly' }).press('Enter');
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(edit.getByRole('alert')).toHaveText('Choose at least one day and a time.');
  await edit.getByRole('button', { name: 'Sat' }).press('Enter');
  await edit.getByLabel('At', { exact: true }).fill('02:30');
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(drawer.getByText(/^Saturday at 02:30; /)).toBeVisible();
  await drawer.getByRole('button', { name: 'Pause' }).press('Enter');
  await expect(drawer.getByText(/^paused by admin, /)).toBeVisible();
  await drawer.getByRole('button', { name: 'Resume' }).press('Enter');
  await expect(drawer.getByText('Up', { exact: true })).toBeVisible();
  await drawer.getByRole('button', { name: 'Delete…' }).press('Enter');
  await page.getByRole('dialog', { name: 'Delete job?' }).getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(row(page, 'report')).toBeVisible();
  await expect(row(page, 'job')).toHaveCount(0);
  // Creating a heartbeat that is in the config file gets 409, and reading the deleted heartbeat gets 404.
  expect(complaints.filter((each) => !/40[49] \(/.test(each))).toEqual([]);
});

test('without heartbeats, the screen explains heartbeats and links to the form', async ({ serveApp, openConsole }) => {
  const { page } = await openConsole({ app: await serveApp({}), hash: '#/heartbeats' });
  await expect(page.getByText(/^A heartbeat monitors a scheduled job/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'New heartbeat' }).last().click();
  await expect(form(page).getByLabel('Name')).toBeFocused();
});
