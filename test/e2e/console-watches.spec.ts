import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { expect, type Page } from '@playwright/test';
import { writeCertificate } from '../support/certificate.ts';
import { createFolder } from '../support/folder.ts';
import { atEnd, type Scope } from '../support/scope.ts';
import { serveApp, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const settings = {
  watches: [
    { name: 'tight', type: 'memory', limit: 0.001, critical: 100, every: 1, message: 'Restart what eats it' },
    { name: 'backup', type: 'file', path: '/no-such-*.tar' },
  ],
  watchTargets: ['127.0.0.1'],
  defaultWatches: true,
};

/** Server shared by the tests in this file. Each test uses its own watches. */
const shared: { app?: TestApp; steps: (() => unknown)[] } = { steps: [] };

const startShared = async (): Promise<TestApp> => {
  const scope: Scope = { after: (step) => void shared.steps.push(step) };
  shared.app ??= await serveApp(scope, { settings });
  return shared.app;
};

test.afterAll(async () => {
  // The process can run another file and then return to this file.
  delete shared.app;
  for (const step of shared.steps.splice(0).reverse()) await step();
});

const table = (page: Page) => page.getByRole('table', { name: 'Watches' });
const row = (page: Page, name: string) =>
  table(page)
    .getByRole('row')
    .filter({ has: page.getByRole('link', { name, exact: true }) });
const form = (page: Page) => page.getByRole('dialog', { name: 'New watch' });
const details = (page: Page, name: string) => page.getByRole('dialog', { name: `Watch ${name}`, exact: true });

test('watches are listed with state, reading, chart and incident, and watches of the config file are read-only', async ({
  openConsole,
}) => {
  const app = await startShared();
  const { page, complaints } = await openConsole({ app, hash: '#/watches' });
  await expect(page.getByText('Log in to see this content')).toBeVisible();
  await logIn(page, 'admin');
  await expect(row(page, 'tight')).toHaveText(
    /Firing.*tight.*Memory · from the config file.*\d % of the memory is in use/,
  );
  const line = row(page, 'tight').getByRole('img', { name: /^Recent hours/ });
  await expect(line).toHaveAccessibleName(/: now .* %, lowest .* %, highest .* %, limit 0\.001 %, limit 100 %$/);
  await expect(row(page, 'backup')).toHaveText(/Firing.*there is no file \/no-such-\*\.tar/);
  await expect(row(page, 'memory')).toHaveText(/OK.*Memory · default watch/);
  // Firing watches come first.
  await expect(table(page).getByRole('row').nth(1)).toHaveText(/Firing/);
  expect(await findFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 800 });
  await expect(row(page, 'tight')).toHaveText(/tight.*Firing.*of the memory is in use/);
  await page.keyboard.press('/');
  await page.keyboard.type('MEM tight');
  await expect(table(page).getByRole('row')).toHaveCount(2);
  await expect(page).toHaveURL(/#\/watches\?q=MEM\+tight$/);
  await row(page, 'tight').getByRole('link', { name: 'tight' }).click();
  const drawer = details(page, 'tight');
  await expect(drawer.getByText('Restart what eats it')).toBeVisible();
  await expect(drawer.getByText('Defined in the config file; edit it there.')).toBeVisible();
  await expect(drawer.getByRole('button', { name: 'Edit…' })).toHaveCount(0);
  await expect(drawer.getByRole('button', { name: 'Delete' })).toHaveCount(0);
  await expect(drawer.getByText('limit: 0.001 %')).toBeAttached();
  expect(await findFaults(page)).toEqual([]);
  await drawer
    .getByRole('link', { name: /^Incident #\d+$/ })
    .first()
    .click();
  await expect(
    page
      .getByRole('dialog', { name: 'Incident' })
      .getByText(/of the memory is in use/)
      .first(),
  ).toBeVisible();
  await page.getByRole('dialog', { name: 'Incident' }).getByRole('link', { name: 'Show the watch' }).click();
  await expect(drawer).toBeVisible();
  expect(complaints).toEqual([]);
});

test('a watch is created, tested, changed, paused, deleted and restored with the keyboard alone', async ({
  openConsole,
}) => {
  const app = await startShared();
  const { page, complaints } = await openConsole({ app, hash: '#/nowhere' });
  await logIn(page, 'admin');
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await expect(page.getByRole('heading', { level: 1, name: 'Watches' })).toBeVisible();
  await page.getByRole('button', { name: 'New watch' }).press('Enter');
  await expect(form(page).getByLabel('Type')).toBeFocused();
  await form(page).getByLabel('Type').selectOption('TCP port');
  await form(page).getByLabel('Name').fill('ours');
  await form(page).getByRole('button', { name: 'Create', exact: true }).press('Enter');
  await expect(form(page).getByRole('alert')).toHaveText('type tcp needs host');
  await form(page).getByLabel('Host').fill('127.0.0.1');
  await form(page).getByLabel('Port').fill('x');
  await form(page).getByLabel('Port').press('Enter');
  await expect(form(page).getByRole('alert')).toHaveText('Port must be a number.');
  await form(page).getByLabel('Port').fill('1');
  await form(page).getByRole('button', { name: 'Test now' }).press('Enter');
  await expect(form(page).getByText(/does not accept connections: .* \(would raise an alert\)$/)).toBeVisible();
  await form(page).getByLabel('Port').fill(new URL(app.url).port);
  await expect(form(page).getByText('(would raise an alert)')).toHaveCount(0);
  await form(page).getByLabel('Limit (ms)', { exact: true }).fill('5000');
  expect(await findFaults(page)).toEqual([]);
  await form(page).getByRole('button', { name: 'Create', exact: true }).press('Enter');
  await expect(page.getByText('Saved: ours')).toBeVisible();
  await expect(row(page, 'ours')).toHaveText(/(Not checked yet|OK).*TCP port: 127\.0\.0\.1/);
  await row(page, 'ours').getByRole('link', { name: 'ours' }).press('Enter');
  const drawer = details(page, 'ours');
  await drawer.getByRole('button', { name: 'Test now' }).press('Enter');
  await expect(drawer.getByRole('status').getByText(/accepted a connection after \d+ ms/)).toBeVisible();
  await drawer.getByRole('button', { name: 'Edit…' }).press('Enter');
  const edit = page.getByRole('dialog', { name: 'Edit ours' });
  await expect(edit.getByLabel('Limit (ms)', { exact: true })).toHaveValue('5000');
  await edit.getByLabel('Critical limit (ms)').fill('4000');
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(edit.getByRole('alert')).toHaveText('critical must be higher than limit');
  await edit.getByLabel('Critical limit (ms)').fill('9000');
  await edit.getByLabel('Instructions').fill('call Anna');
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(drawer.getByText('at 5,000 ms or more, critical at 9,000 ms or more')).toBeVisible();
  await drawer.getByRole('button', { name: 'Pause' }).press('Enter');
  await expect(drawer.getByText('Paused', { exact: true })).toBeVisible();
  await drawer.getByRole('button', { name: 'Resume' }).press('Enter');
  await expect(drawer.getByText('Resumed: ours')).toBeVisible();
  await drawer.getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(row(page, 'ours')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expect(row(page, 'ours')).toBeVisible();
  const { json } = await app.request('GET', '/api/watches/ours', { token: await app.login('admin') });
  const port = Number(new URL(app.url).port);
  expect(json['settings']).toEqual({
    name: 'ours',
    type: 'tcp',
    host: '127.0.0.1',
    port,
    limit: 5000,
    critical: 9000,
    message: 'call Anna',
  });
  expect(complaints.filter((each) => !each.includes('400 (Bad Request)'))).toEqual([]);
});

test('the form for a certificate shows the default limit, which raises an alert if the field is empty', async ({
  openConsole,
  scope,
}) => {
  const app = await startShared();
  const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString().replaceAll(/[-:T]|\..*/g, '');
  const { cert, key } = writeCertificate(createFolder(scope), 'soon', `${days(5).slice(2)}Z`);
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(scope, () => server.close());
  const { page, complaints } = await openConsole({ app, hash: '#/watches' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'New watch' }).click();
  await form(page).getByLabel('Type').selectOption('Certificate');
  await expect(form(page).getByText('Raises an alert at this value or less. Default: 14 days.')).toBeVisible();
  await form(page).getByLabel('Host').fill('127.0.0.1');
  await form(page)
    .getByLabel('Port')
    .fill(String((server.address() as AddressInfo).port));
  await form(page).getByRole('button', { name: 'Test now' }).click();
  await expect(form(page).getByText(/is valid for \d days, until [\d-]+ \(would raise an alert\)$/)).toBeVisible();
  expect(complaints).toEqual([]);
});

test('an edit keeps settings without a field and the exact values of unchanged fields', async ({
  openConsole,
  scope,
}) => {
  const app = await startShared();
  const token = await app.login('admin');
  const { pem } = writeCertificate(createFolder(scope), 'own-ca');
  const pushed = {
    name: 'login',
    type: 'postgres',
    host: 'db.example',
    user: 'shop',
    password: 'correct horse',
    tls: true,
    ca: pem,
    hosts: ['web-*'],
    open: true,
  };
  const voted = {
    name: 'voted',
    type: 'http',
    url: 'http://127.0.0.1:1/',
    json: [{ pointer: '', is: '=', value: 'up' }],
    from: ['hub', 'web-1'],
    votes: 2,
  };
  const free = { name: 'space', type: 'disk', metric: 'free', limit: 5_000_000_001, hosts: ['web-*'] };
  for (const body of [pushed, voted, free])
    expect((await app.request('POST', '/api/watches', { token, body })).status).toBe(201);
  const { page, complaints } = await openConsole({ app, hash: '#/watches' });
  await logIn(page, 'admin');
  for (const { name, ...settings } of [pushed, voted, free]) {
    await page.goto(`/console/#/watches/${name}?edit=1`);
    const edit = page.getByRole('dialog', { name: `Edit ${name}` });
    await edit.getByLabel('Instructions').fill('call Anna');
    await edit.getByRole('button', { name: 'Save' }).click();
    await expect(details(page, name).getByText('call Anna')).toBeVisible();
    const { json } = await app.request('GET', `/api/watches/${name}`, { token });
    const { password, ...shown } = { password: undefined, ...settings };
    expect(json['settings']).toEqual({ name, ...shown, message: 'call Anna' });
    expect(json['hidden']).toEqual(password === undefined ? [] : ['password']);
  }
  await page.goto('/console/#/watches/space?edit=1');
  const edit = page.getByRole('dialog', { name: 'Edit space' });
  await edit.getByLabel('Metric').selectOption('used');
  await edit.getByLabel('Limit (%)', { exact: true }).fill('90');
  await edit.getByLabel('Instructions').fill('');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(details(page, 'space')).toBeVisible();
  const { json } = await app.request('GET', '/api/watches/space', { token });
  expect(json['settings']).toEqual({ name: 'space', type: 'disk', metric: 'used', limit: 90, hosts: ['web-*'] });
  expect(complaints).toEqual([]);
});

test('each chart on the overview opens a form for a watch with type, resource and limit, and returns', async ({
  openConsole,
}) => {
  const app = await startShared();
  const { page, complaints } = await openConsole({ app });
  await logIn(page, 'admin');
  const presets: [chart: string, type: string, labels: Record<string, string | RegExp>][] = [
    ['CPU', 'cpu', { 'Limit (%)': '95', 'Must last (seconds)': '60' }],
    ['Memory', 'memory', { 'Limit (%)': '95', 'Must last (seconds)': '300' }],
    ['Load', 'load', { Limit: '2' }],
    ['Network', 'network', { Metric: 'received', 'Limit (MiB/s)': /^\d/ }],
    ['Alerts', 'alert', { Metric: 'count', Limit: '20', Source: '*', 'Within (minutes)': '60' }],
    ['Disk use', 'disk', { 'Limit (%)': '90', 'Critical limit (%)': '97', Mounts: /^\// }],
  ];
  await expect(page.getByText(/^\/.*: now .* %/)).toBeAttached();
  for (const [chart, type, labels] of presets) {
    await page.getByRole('link', { name: `Watch this: ${chart}` }).click();
    await expect(form(page).getByLabel('Type')).toHaveValue(type);
    for (const [label, value] of Object.entries(labels))
      await expect(form(page).getByLabel(label, { exact: true })).toHaveValue(value);
    if (chart !== 'Disk use') await form(page).getByRole('button', { name: 'Cancel' }).click();
  }
  // The new watch replaces the default watch.
  await expect(form(page).getByText('Replaces the default watch disk.')).toBeVisible();
  await form(page).getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await expect(page.getByText('Saved: disk')).toBeVisible();
  // The overview shows the watch's message and links to the watch.
  await page
    .getByRole('region', { name: 'Health' })
    .getByRole('link', { name: /of the memory is in use/ })
    .click();
  await expect(row(page, 'tight')).toHaveText(/Firing/);
  await expect(row(page, 'disk')).not.toHaveText(/default watch/);
  expect(complaints).toEqual([]);
});

test('without watches, the screen explains watches and links to the form', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const { page } = await openConsole({ app, hash: '#/watches' });
  await logIn(page, 'admin');
  await expect(page.getByText(/^A watch regularly checks a disk, a service/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'New watch' }).last().click();
  await expect(form(page)).toBeVisible();
});
