import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { fillLogin, findFaults, logIn, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** A receiver that refuses its first delivery, so that the alert is parked. */
const startReceiver = (t: TestContext): Promise<string> => {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      response.writeHead(count === 1 ? 404 : 200).end();
    });
  });
  t.after(() => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
};

const start = async (t: TestContext) => {
  const url = await startReceiver(t);
  const app = await startApp(t, { settings: { destinations: [{ name: 'pager', type: 'webhook', url }] } });
  const id = await sendAlert(app, { message: 'refused once', level: 'ERROR' });
  return { app, id };
};

test('deliveries show a parked alert, which is delivered by another try', { skip }, async (t) => {
  const { app, id } = await start(t);
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/deliveries' });
  await page.getByText('Log in to see this').waitFor();
  await logIn(page, 'admin');
  const region = page.getByRole('region', { name: 'pager' });
  await region.getByText('1 parked alert', { exact: true }).waitFor();
  await region.getByText('the receiver responded 404').first().waitFor();
  assert.deepEqual(await findFaults(page), []);
  await region.getByRole('button', { name: `Retry alert ${id}` }).press('Enter');
  await page.getByRole('status').getByText('Delivered.').waitFor();
  await region.getByText('1 parked alert', { exact: true }).waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a session that expires is asked for again, and the action continues after the login', { skip }, async (t) => {
  const { app, id } = await start(t);
  const { page } = await openConsole(t, browser, { app, hash: '#/deliveries' });
  await logIn(page, 'admin');
  const retry = page.getByRole('button', { name: `Retry alert ${id}` });
  await retry.waitFor();
  let isRefused = false;
  await page.route('**/retry', async (route) => {
    if (isRefused) return route.continue();
    isRefused = true;
    return route.fulfill({ status: 401, body: '{"error":"Token expired"}' });
  });
  await retry.click();
  await page.getByText('Your session has expired.').waitFor();
  await fillLogin(page, 'admin');
  await page.getByRole('status').getByText('Delivered.').waitFor();
});

test('a reader sees that deliveries need the role Admin', { skip }, async (t) => {
  const { page } = await openConsole(t, browser, { hash: '#/deliveries' });
  await logIn(page, 'reader');
  await page.getByText('This needs a user with the role Admin.').waitFor();
  await page.goto('/console/#/nowhere');
  await page.getByRole('heading', { name: 'There is no such screen' }).waitFor();
});
