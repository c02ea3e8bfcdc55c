import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
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
    /Machine up for\s*\d+ (days?|h|min|s)\b/,
    /Alert log\s*writable/,
    /Waiting for the disk\s*0 alerts/,
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
