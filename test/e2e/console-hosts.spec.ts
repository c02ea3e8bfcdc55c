import { expect, type Page } from '@playwright/test';
import { enrol, report } from '../hosts/support/hosts.ts';
import type { Scope } from '../support/scope.ts';
import { serveApp, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

/** Starts a server with two hosts that have reported. */
const startHub = async (scope: Scope): Promise<TestApp> => {
  const app = await serveApp(scope);
  const token = await app.login('admin');
  for (const name of ['web-1', 'db-1']) {
    const key = await enrol(app, token, name);
    await app.request('PATCH', `/api/hosts/${name}`, { token, body: { tags: [name.slice(0, -2)] } });
    expect((await report(app, key, name)).status).toBe(200);
  }
  return app;
};

const table = (page: Page) => page.getByRole('table', { name: 'Hosts' });

test('the overview begins with a mark for each host, and names of hosts lead to their pages', async ({
  openConsole,
  scope,
}) => {
  const app = await startHub(scope);
  const alert = {
    level: 'CRITICAL',
    source: 'backup',
    message: 'the backup has failed',
    hostname: 'WEB-1.example.org',
  };
  await app.request('POST', '/api/alert', { body: alert });
  const { page, complaints } = await openConsole({ app });
  await logIn(page, 'admin');
  const marks = page.getByRole('region', { name: 'Hosts' });
  await expect(marks.getByRole('link', { name: 'web-1 · Up · 1 open incident' })).toHaveClass(/tone-critical/);
  await expect(marks.getByRole('link', { name: 'db-1 · Up' })).toHaveClass(/tone-good/);
  await page.goto('/console/#/incidents');
  await page.getByRole('table').getByRole('link', { name: 'WEB-1.example.org' }).click();
  const details = page.getByRole('dialog', { name: 'Host web-1' });
  await expect(details.getByRole('link', { name: 'the backup has failed' })).toBeVisible();
  await expect(details.getByText('Disks')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('the list of hosts is not shown as empty while it is loading after the login', async ({ openConsole, scope }) => {
  const app = await startHub(scope);
  const { page } = await openConsole({ app });
  await page.goto('/console/#/hosts');
  const held: (() => void)[] = [];
  await page.route('**/api/hosts', async (route) => {
    await new Promise<void>((resolve) => held.push(resolve));
    await route.continue();
  });
  await logIn(page, 'reader');
  await expect(() => expect(held.length).toBe(1)).toPass();
  await expect(page.getByText('No hosts')).toHaveCount(0);
  held[0]?.();
  await expect(table(page).getByRole('link', { name: 'web-1' })).toBeVisible();
});

test('a host has charts of its readings except those it lacks, and its heartbeats', async ({ openConsole, scope }) => {
  const app = await serveApp(scope);
  const token = await app.login('admin');
  const key = await enrol(app, token, 'web-1');
  const readings = { cpu: 0.5, load: 1.5, pressureIo: 2, disks: [{ mountPath: '/', used: 10, total: 100 }] };
  const heartbeats = [{ name: 'backup', state: 'down' as const, pingAge: 60 }];
  await report(app, key, 'web-1', { readings, heartbeats });
  const { page } = await openConsole({ app });
  await logIn(page, 'reader');
  await page.goto('/console/#/hosts/web-1');
  const details = page.getByRole('dialog', { name: 'Host web-1' });
  for (const title of ['CPU', 'Load', 'Disk use', 'Waiting tasks'])
    await expect(details.getByRole('figure', { name: title })).toContainText(/now/);
  await expect(details.getByRole('figure', { name: 'Temperature' })).toHaveCount(0);
  await expect(details.getByRole('listitem').filter({ hasText: 'backup' })).toContainText('Down');
  await page.setViewportSize({ width: 360, height: 780 });
  expect(await details.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
});

test('hosts are filtered and grouped by tag, worst first', async ({ openConsole, scope }) => {
  const app = await startHub(scope);
  await app.request('POST', '/api/alert', { body: { level: 'ERROR', message: 'full', hostname: 'db-1' } });
  const { page } = await openConsole({ app });
  await logIn(page, 'reader');
  await page.goto('/console/#/hosts');
  await expect(table(page).getByRole('link', { name: /^(?:web|db)-1$/ })).toHaveText(['db-1', 'web-1']);
  await page.getByRole('button', { name: 'By tag' }).click();
  await expect(page.getByRole('heading', { level: 2 })).toContainText(['db', 'web']);
  await page.getByRole('button', { name: 'One list' }).click();
  await page.getByLabel('Tag').selectOption('web');
  await expect(table(page).getByRole('link', { name: /^(?:web|db)-1$/ })).toHaveText(['web-1']);
  await expect(page.getByRole('button', { name: 'Add a host' })).toHaveCount(0);
});

test('the address of an open host has its range, and the host closes to the filtered list', async ({
  openConsole,
  scope,
}) => {
  const app = await startHub(scope);
  const { page } = await openConsole({ app });
  await logIn(page, 'reader');
  await page.goto('/console/#/hosts?tag=web');
  await table(page).getByRole('link', { name: 'web-1' }).click();
  const details = page.getByRole('dialog', { name: 'Host web-1' });
  await details.getByRole('button', { name: '7 days' }).click();
  await expect(page).toHaveURL(/#\/hosts\/web-1\?tag=web&range=week$/);
  await page.goto('/console/#/hosts');
  await page.goBack();
  await expect(details.getByRole('button', { name: '7 days' })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/#\/hosts\?tag=web$/);
});

test('a host that another user deletes leaves the list', async ({ openConsole, scope }) => {
  const app = await startHub(scope);
  const { page } = await openConsole({ app });
  await logIn(page, 'reader');
  await page.goto('/console/#/hosts');
  await expect(table(page).getByRole('link', { name: /^(?:web|db)-1$/ })).toHaveCount(2);
  await app.request('DELETE', '/api/hosts/db-1', { token: await app.login('admin') });
  await expect(table(page).getByRole('link', { name: /^(?:web|db)-1$/ })).toHaveText(['web-1']);
});

test('the form of a host does not overwrite a change that another user saved after the form was opened', async ({
  openConsole,
  scope,
}) => {
  const app = await startHub(scope);
  const token = await app.login('admin');
  const { page } = await openConsole({ app });
  await logIn(page, 'admin');
  await page.goto('/console/#/hosts/web-1');
  await page.getByRole('button', { name: 'Edit…' }).click();
  const form = page.getByRole('dialog', { name: 'Edit web-1' });
  await form.getByLabel('Note').fill('rack 4');
  await app.request('PATCH', '/api/hosts/web-1', { token, body: { tags: ['eu'] } });
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toContainText('Somebody else has saved changes in the meantime');
  const { json } = await app.request('GET', '/api/hosts/web-1', { token });
  expect([json['tags'], json['note']]).toEqual([['eu'], '']);
});

test('the filter of hosts and the list of their incidents find aliases', async ({ openConsole, scope }) => {
  const app = await startHub(scope);
  const token = await app.login('admin');
  await app.request('PATCH', '/api/hosts/web-1', { token, body: { aliases: ['shop.example'] } });
  await app.request('POST', '/api/alert', { body: { level: 'ERROR', message: 'slow', hostname: 'Shop.example' } });
  const { page } = await openConsole({ app });
  await logIn(page, 'reader');
  await page.goto('/console/#/hosts?q=shop.ex');
  await expect(table(page).getByRole('link', { name: /^(?:web|db)-1$/ })).toHaveText(['web-1']);
  await table(page).getByRole('link', { name: '1', exact: true }).click();
  await expect(page.getByRole('table').getByRole('link', { name: 'slow' })).toBeVisible();
});

test('a watch shows and links the hosts that run the watch', async ({ openConsole, scope }) => {
  const app = await startHub(scope);
  const token = await app.login('admin');
  for (const body of [
    { name: 'sshd', type: 'process', process: 'sshd', hosts: ['web-1', 'db-*'] },
    { name: 'site', type: 'tcp', host: '127.0.0.1', port: 1, from: ['hub', 'db-1'] },
  ]) {
    const { status, json } = await app.request('POST', '/api/watches', { token, body });
    expect([status, json]).toEqual([201, expect.anything()]);
  }
  const { page } = await openConsole({ app });
  await logIn(page, 'reader');
  await page.goto('/console/#/watches/sshd');
  const details = page.getByRole('dialog');
  await expect(details.getByText('web-1, db-*')).toBeVisible();
  await expect(details.getByRole('link', { name: 'web-1' })).toHaveAttribute('href', '#/hosts/web-1');
  await page.goto('/console/#/watches/site');
  await expect(details.getByText('hub, db-1')).toBeVisible();
  await expect(details.getByRole('link', { name: 'db-1' }).first()).toHaveAttribute('href', '#/hosts/db-1');
  expect(await findFaults(page)).toEqual([]);
});
