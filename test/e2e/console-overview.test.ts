import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

test('the overview shows health in words, charts, disks, processes and alerts', { skip }, async (t) => {
  const app = await startApp(t);
  await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk', hostname: 'web-1' });
  const { page, complaints } = await openConsole(t, browser, { app });
  await page.getByText(/Everything looks fine|needs? attention/).waitFor();
  for (const name of ['Processor', 'Memory', 'Disks', 'Top processes', 'Latest alerts']) {
    await page.getByRole('heading', { name }).first().waitFor();
  }
  // Screen readers get each series as a sentence.
  await page.getByText(/^busy: now .* %, lowest .* %, highest .* %\.$/).waitFor({ state: 'attached' });
  await page.getByText('sda1 is full').waitFor();
  const health = page.getByRole('region', { name: 'Health' });
  for (const fact of [
    /Machine up for\s*(less than 3|\d+ (days?|h|min|s)\b)/,
    /Version\s*signalbox /,
    /Running for\s*\d+ s/,
  ])
    await health.getByText(fact).first().waitFor();
  await page.getByRole('columnheader', { name: 'PID' }).waitFor();
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('the range of the charts is in the address', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser);
  await page.getByRole('button', { name: '24 h' }).click();
  await page.waitForURL('**/console/#/?range=day');
  await page.reload();
  await page.getByRole('button', { name: '24 h', pressed: true }).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: '10 min', pressed: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test('new alerts appear on the overview by themselves', { skip }, async (t) => {
  const { page, app } = await openConsole(t, browser);
  await page.getByText('No alerts yet.').waitFor();
  await sendAlert(app, { message: '<b>bold</b> & more' });
  await page.getByText('<b>bold</b> & more').waitFor();
});

test('health covers alerts that fire and deliveries that fail, as the server has it', { skip }, async (t) => {
  const { url } = await startReceiver(t, answer(400));
  const app = await startApp(t, { settings: { destinations: [{ name: 'pager', type: 'webhook', url }] } });
  const { page } = await openConsole(t, browser, { app });
  const health = page.getByRole('region', { name: 'Health' });
  const firing = (name: string) =>
    sendAlert(app, { message: `${name} is down`, level: 'CRITICAL', status: 'firing', key: name });
  for (const name of ['web-1', 'web-2']) await firing(name);
  await health.getByRole('link', { name: '2 critical alerts are firing' }).waitFor();
  await health.getByText(/parked|not delivered|given up/).waitFor();
  assert.equal(await page.getByText('Everything looks fine').count(), 0);
  await health.getByRole('link', { name: '2 critical alerts are firing' }).click();
  await page.waitForURL('**/#/alerts?status=firing');
  await page.getByText('web-1 is down').waitFor();
});

test('while it is connected, the overview asks for nothing', { skip }, async (t) => {
  const { page, app } = await openConsole(t, browser);
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText(/^busy: now .* %/).waitFor({ state: 'attached' });
  await page.waitForTimeout(1500);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await sendAlert(app, { message: 'while it is watched' });
  await page.getByText('while it is watched').waitFor();
  await page.waitForTimeout(6000);
  assert.deepEqual(asked, []);
});
