import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, type Page } from '@playwright/test';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const arrival = (page: Page) => page.getByRole('region', { name: '3. First alert' });
const lines = (page: Page) => page.getByRole('region', { name: '2. Lines to paste' }).locator('pre');

const hostDown = {
  version: '4',
  groupKey: '{}:{alertname="HostDown"}',
  status: 'firing',
  receiver: 'signalbox',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://alertmanager.example:9093',
  alerts: [
    {
      status: 'firing',
      labels: { alertname: 'HostDown', severity: 'critical', instance: 'web-1:9100' },
      annotations: { summary: 'web-1 does not answer' },
      startsAt: '2026-01-31T09:30:00.123Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus.example:9090/graph',
      fingerprint: 'd8e1c9a1f3b2a047',
    },
  ],
};

test('with the keyboard alone, Alertmanager gets a key and lines, and its first alert is seen as it comes in', async ({
  startApp,
  openConsole,
}) => {
  const app = await startApp({ settings: { access: 'login' } });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await logIn(page, 'admin');
  await expect(page.getByText('What your monitoring, jobs and scripts report appears here')).toBeVisible();
  await page.getByRole('link', { name: 'Connect a sender' }).press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Connect' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  const receivers = page.getByRole('region', { name: 'Destinations of notifications' });
  await receivers.getByRole('link', { name: 'E-mail' }).press('Enter');
  await expect(page.getByRole('dialog', { name: 'New destination' }).getByLabel('Type')).toHaveValue('email');
  await page.goBack();
  await page.getByRole('link', { name: 'Alertmanager', exact: true }).first().press('Enter');
  await expect(lines(page)).toContainText('credentials: KEY');
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  await page.getByRole('button', { name: 'Create a key' }).press('Enter');
  await expect(page.getByText(/^The key alertmanager has been created/)).toBeVisible();
  const text = (await lines(page).textContent()) ?? '';
  const [, url = ''] = /url: (\S+)/.exec(text) ?? [];
  const [, key = ''] = /credentials: (sbk_\S+)/.exec(text) ?? assert.fail(text);
  expect(url).toBe(`${app.url}/api/alert/alertmanager`);
  await expect(page.getByText('127.0.0.1 is this machine only')).toBeVisible();
  const admin = await app.login('admin');
  // Of another sender.
  expect((await app.request('POST', '/api/alert/alertmanager', { token: admin, body: hostDown })).status).toBe(200);
  expect((await app.request('POST', new URL(url).pathname, { token: key, body: hostDown })).status).toBe(200);
  await expect(arrival(page).getByText(/^Received .*: HostDown$/)).toBeVisible();
  await expect(arrival(page).getByText('key:alertmanager')).toBeVisible();
  await expect(arrival(page).getByText('alertmanager/HostDown')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await arrival(page).getByRole('link', { name: 'Show the alert' }).press('Enter');
  await expect(page.getByRole('dialog').getByText('web-1 does not answer').first()).toBeVisible();
  await page.evaluate('location.hash = "#/connect/alertmanager"');
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(/^The key alertmanager-2 has been created/)).toBeVisible();
  expect(complaints).toEqual([]);
});

test('the lines for curl and cron run in a shell as they are, and a sender without a key is seen too', async ({
  startApp,
  openConsole,
}) => {
  const app = await startApp();
  const { page } = await openConsole({ app, hash: '#/connect/curl', viewport: { width: 360, height: 740 } });
  await logIn(page, 'admin');
  const run = async () => {
    const text = ((await lines(page).textContent()) ?? '').replace('0 2 * * * backup.sh', 'false');
    await promisify(execFile)('/bin/sh', ['-c', text]);
  };
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(/^The key curl has been created/)).toBeVisible();
  await run();
  await expect(arrival(page).getByText(/^Received .*: hello$/)).toBeVisible();
  await page.getByRole('link', { name: 'All senders' }).click();
  await page.getByRole('link', { name: 'cron' }).click();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await expect(page.getByText(/^The key cron has been created/)).toBeVisible();
  await run();
  await expect(arrival(page).getByText(/^Received .*: The backup has failed$/)).toBeVisible();
  await page.evaluate('location.hash = "#/connect/powershell"');
  await expect(arrival(page).getByText('Waiting for the first alert…')).toBeVisible();
  await sendAlert(app, { message: 'from a script' });
  await expect(arrival(page).getByText(/^Received .*: from a script$/)).toBeVisible();
});
