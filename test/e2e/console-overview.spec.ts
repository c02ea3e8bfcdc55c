import { expect } from '@playwright/test';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults } from './support/page.ts';
import { startPager } from './support/pager.ts';

test('the overview shows health in words, charts, disks, processes and alerts', async ({ startApp, openConsole }) => {
  const app = await startApp();
  await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk', hostname: 'web-1' });
  const { page, complaints } = await openConsole({ app });
  await expect(page.getByText(/Everything looks fine|needs? attention/)).toBeVisible();
  for (const name of ['Processor', 'Memory', 'Disks', 'Top processes', 'Latest alerts']) {
    await expect(page.getByRole('heading', { name }).first()).toBeVisible();
  }
  // Screen readers get each series as a sentence.
  await expect(page.getByText(/^busy: now .* %, lowest .* %, highest .* %\.$/)).toBeAttached();
  await expect(page.getByText('sda1 is full')).toHaveCount(2);
  const health = page.getByRole('region', { name: 'Health' });
  for (const fact of [
    /Machine up for\s*(less than 3|\d+ (days?|h|min|s)\b)/,
    /Version\s*signalbox /,
    /Running for\s*\d+ s/,
  ])
    await expect(health.getByText(fact).first()).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'PID' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('the range of the charts is in the address', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
  await page.getByRole('button', { name: '24 h' }).click();
  await page.waitForURL('**/console/#/?range=day');
  await page.reload();
  await expect(page.getByRole('button', { name: '24 h', pressed: true })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('button', { name: '10 min', pressed: true })).toBeVisible();
  expect(complaints).toEqual([]);
});

test('new alerts appear on the overview by themselves', async ({ openConsole }) => {
  const { page, app } = await openConsole();
  await expect(page.getByText('No alerts yet.')).toBeVisible();
  await sendAlert(app, { message: '<b>bold</b> & more' });
  await expect(page.getByText('<b>bold</b> & more')).toHaveCount(2);
});

test('health covers open incidents and deliveries that fail, as the server has it', async ({
  scope,
  startApp,
  openConsole,
}) => {
  const app = await startApp({ settings: await startPager(scope) });
  const { page } = await openConsole({ app });
  const health = page.getByRole('region', { name: 'Health' });
  const firing = (name: string) =>
    sendAlert(app, { message: `${name} is down`, level: 'CRITICAL', status: 'firing', key: name });
  for (const name of ['web-1', 'web-2']) await firing(name);
  await expect(health.getByRole('link', { name: '2 critical incidents are open' })).toBeVisible();
  await expect(health.getByText(/parked|not delivered|given up/)).toBeVisible();
  await expect(page.getByText('Everything looks fine')).toHaveCount(0);
  await health.getByRole('link', { name: '2 critical incidents are open' }).click();
  await page.waitForURL('**/#/incidents');
  await expect(page.getByRole('table', { name: 'Incidents' }).getByText('web-1 is down')).toBeVisible();
});

test('while it is connected, the overview asks for nothing', async ({ openConsole }) => {
  const { page, app } = await openConsole();
  const health = page.getByRole('region', { name: 'Health' });
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(page.getByText(/^busy: now .* %/)).toBeAttached();
  const seconds = async () => Number(/Running for\s*(\d+) s/.exec((await health.textContent()) ?? '')?.[1]);
  const pass = async (count: number) => {
    const from = await seconds();
    await expect.poll(seconds).toBeGreaterThanOrEqual(from + count);
  };
  await pass(2);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await sendAlert(app, { message: 'while it is watched' });
  await expect(page.getByText('while it is watched')).toHaveCount(2);
  await pass(5);
  expect(asked).toEqual([]);
});
