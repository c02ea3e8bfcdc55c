import { expect } from '@playwright/test';
import { startReceiver } from '../support/receiver.ts';
import type { Scope } from '../support/scope.ts';
import { sendAlert, startApp } from './support/app.ts';
import { test } from './support/console.ts';
import { fillLogin, findFaults, logIn } from './support/page.ts';
import { refuseOnce, startPager } from './support/pager.ts';

/** An app with an alert that is parked, since its receiver refuses the first delivery. */
const start = async (scope: Scope) => {
  const app = await startApp(scope, { settings: await startPager(scope, refuseOnce) });
  await sendAlert(app, { message: 'refused once', level: 'ERROR' });
  return app;
};

test('deliveries show the text of an alert that was given up, and another try delivers it', async ({
  scope,
  openConsole,
}) => {
  const app = await start(scope);
  const { page, complaints } = await openConsole({ app, hash: '#/deliveries' });
  await expect(page.getByText('Log in to see this')).toBeVisible();
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

test('a receiver that refuses everything is shown as failing, and one button tries all alerts again', async ({
  scope,
  startApp,
  openConsole,
}) => {
  let status = 401;
  const { url } = await startReceiver(scope, (response) => void response.writeHead(status).end());
  const app = await startApp({
    settings: { destinations: [{ name: 'pager', type: 'webhook', url, levels: ['CRITICAL'] }] },
  });
  for (const number of [1, 2, 3]) await sendAlert(app, { message: `alert ${number}`, level: 'CRITICAL' });
  const { page } = await openConsole({ app, hash: '#/deliveries' });
  await logIn(page, 'admin');
  const region = page.getByRole('region', { name: 'pager' });
  await expect(region.getByText(/^Failing since /)).toBeVisible();
  await expect(region.getByText('3 alerts waiting')).toBeVisible();
  await expect(region.getByRole('link', { name: 'alert 2' })).toBeVisible();
  await expect(region.getByText(new URL(url).origin)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  status = 200;
  await region.getByRole('button', { name: 'Retry all now: pager' }).click();
  await expect(page.getByRole('status').getByText('3 alerts are tried again.')).toBeVisible();
  await expect(region.getByText('Up to date')).toBeVisible();
});

test('a session that expires is asked for again, and the action continues after the login', async ({
  scope,
  openConsole,
}) => {
  const app = await start(scope);
  const { page } = await openConsole({ app, hash: '#/deliveries' });
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

test('a reader sees that deliveries need the role Admin', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/deliveries' });
  await logIn(page, 'reader');
  await expect(page.getByText('This needs a user with the role Admin.')).toBeVisible();
  await page.goto('/console/#/nowhere');
  await expect(page.getByRole('heading', { name: 'There is no such screen' })).toBeVisible();
});
