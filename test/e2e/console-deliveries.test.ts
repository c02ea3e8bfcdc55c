import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { startReceiver as startAnyReceiver } from '../support/receiver.ts';
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
      response.writeHead(count === 1 ? 400 : 200).end();
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
  await sendAlert(app, { message: 'refused once', level: 'ERROR' });
  return app;
};

test('deliveries show the text of an alert that was given up, and another try delivers it', { skip }, async (t) => {
  const app = await start(t);
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/deliveries' });
  await page.getByText('Log in to see this').waitFor();
  await logIn(page, 'admin');
  const region = page.getByRole('region', { name: 'pager' });
  await region.getByText('1 alert given up', { exact: true }).waitFor();
  await region.getByText('1 not delivered', { exact: true }).waitFor();
  await region.getByRole('link', { name: 'refused once' }).waitFor();
  await region.getByText('the receiver responded 400').first().waitFor();
  assert.deepEqual(await findFaults(page), []);
  await region.getByRole('button', { name: 'Retry: refused once' }).press('Enter');
  await page.getByRole('status').getByText('Delivered.').waitFor();
  await region.getByText('Up to date').waitFor();
  assert.equal(await region.getByText('given up', { exact: true }).count(), 0);
  assert.deepEqual(complaints, []);
});

test('a receiver that refuses everything is shown as failing, and one button tries all alerts again', {
  skip,
}, async (t) => {
  let status = 401;
  const { url } = await startAnyReceiver(t, (response) => void response.writeHead(status).end());
  const app = await startApp(t, {
    settings: { destinations: [{ name: 'pager', type: 'webhook', url, levels: ['CRITICAL'] }] },
  });
  for (const number of [1, 2, 3]) await sendAlert(app, { message: `alert ${number}`, level: 'CRITICAL' });
  const { page } = await openConsole(t, browser, { app, hash: '#/deliveries' });
  await logIn(page, 'admin');
  const region = page.getByRole('region', { name: 'pager' });
  await region.getByText(/^Failing since /).waitFor();
  await region.getByText('3 alerts waiting').waitFor();
  await region.getByRole('link', { name: 'alert 2' }).waitFor();
  await region.getByText(new URL(url).origin).waitFor();
  assert.deepEqual(await findFaults(page), []);
  status = 200;
  await region.getByRole('button', { name: 'Retry all now: pager' }).click();
  await page.getByRole('status').getByText('3 alerts are tried again.').waitFor();
  await region.getByText('Up to date').waitFor();
});

test('a session that expires is asked for again, and the action continues after the login', { skip }, async (t) => {
  const app = await start(t);
  const { page } = await openConsole(t, browser, { app, hash: '#/deliveries' });
  await logIn(page, 'admin');
  const retry = page.getByRole('button', { name: 'Retry: refused once' });
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
