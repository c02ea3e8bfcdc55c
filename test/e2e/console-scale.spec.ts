import { join } from 'node:path';
import { expect } from '@playwright/test';
import { fillLog } from '../../bench/support/alert-log.ts';
import { enrol, report } from '../hosts/support/hosts.ts';
import { createFolder } from '../support/folder.ts';
import { isLong } from './support/app.ts';
import { note, test } from './support/console.ts';
import { logIn, nextFrame } from './support/page.ts';

/** Numbers of records, as in the bench. The bench measures speed. These tests check only correctness. */
const taskCount = isLong ? 10_000 : 4000;
const alertCount = isLong ? 1_000_000 : 21_000;
const hostCount = 500;
/** Number of alerts for a throttled browser, because loading them takes several times the CPU time. */
const throttledCount = isLong ? 19_000 : 3000;

test('a table and a board with thousands of tasks scroll to any position, with few rows in the page', async ({
  serveApp,
  openConsole,
}) => {
  const tasks = Array.from({ length: taskCount }, (_, index) => ({ Title: `task number ${index + 1}` }));
  const app = await serveApp({ seed: { tasks } });
  const { page, complaints } = await openConsole({ app, hash: '#/tasks' });
  const task = (number: number) => page.getByRole('button', { name: `task number ${number}`, exact: true });
  for (const view of ['Table', 'Board']) {
    await page.goto(`/console/#/tasks?view=${view.toLowerCase()}`);
    await expect(page.getByText(`${taskCount.toLocaleString('en-GB')} tasks`)).toBeVisible();
    await expect(page.getByRole('button', { name: view, exact: true, pressed: true })).toBeVisible();
    await page.evaluate('scrollTo(0, 0)');
    await expect(task(taskCount)).toBeVisible();
    // The list grows while it loads.
    await expect(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await expect(task(1)).toBeVisible({ timeout: 100 });
    }).toPass();
    await page.evaluate('scrollTo(0, document.body.scrollHeight / 2)');
    await expect(task(1)).toHaveCount(0);
    await expect(page.getByRole('button', { name: /^task number/ }).nth(10)).toBeVisible();
    expect(await page.locator('*').count()).toBeLessThan(6000);
  }
  expect(complaints).toEqual([]);
});

test('five hundred hosts are listed, found by name and grouped, with few rows in the page', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const token = await app.login('admin');
  const addHost = async (number: number): Promise<void> => {
    const name = `web-${number}`;
    const key = await enrol(app, token, name);
    await app.request('PATCH', `/api/hosts/${name}`, { token, body: { tags: [`rack-${number % 5}`] } });
    expect((await report(app, key, name)).status).toBe(200);
  };
  for (let first = 0; first < hostCount; first += 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => addHost(first + index)));
  const { page, complaints } = await openConsole({ app, hash: '#/hosts' });
  await logIn(page, 'reader');
  const host = (number: number) => page.getByRole('link', { name: `web-${number}`, exact: true });
  await expect(host(0)).toBeVisible();
  // The server itself is a host, too.
  await expect(page.getByText(`${hostCount + 1} hosts,`)).toBeVisible();
  expect(await page.locator('*').count()).toBeLessThan(6000);
  const started = performance.now();
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  await expect(host(hostCount - 1)).toBeVisible();
  note(`the end of ${hostCount} hosts is shown after ${Math.round(performance.now() - started)} ms`);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('web-499');
  await expect(host(499)).toBeVisible();
  await expect(page.getByRole('link', { name: /^web-/ })).toHaveCount(1);
  await page.getByRole('searchbox', { name: 'Filter' }).fill('');
  await page.getByRole('button', { name: 'By tag' }).click();
  await expect(page.getByRole('heading', { level: 2, name: /^rack-/ })).toHaveCount(5);
  expect(complaints).toEqual([]);
});

test('tens of thousands of alerts are counted and can be scrolled, and a full list continues with older alerts', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  test.slow();
  const dataDir = join(createFolder(scope), 'data');
  await fillLog(dataDir, alertCount, { first: 1, startedAt: Date.now() - alertCount * 1000 });
  const app = await serveApp({ settings: { dataDir } });
  // Waits for the incidents of the last day. While other tests are running, they take longer than the console's
  // timeout.
  await app.request('GET', '/api/incidents');
  const { page, complaints } = await openConsole({ app, hash: '#/alerts?range=7d' });
  const job = (seq: number) => page.getByRole('link', { name: `job ${seq} on volume` });
  await expect(job(alertCount)).toBeVisible();
  const counted = isLong ? /^7 d: 604,\d\d\d alerts/ : /^7 d: 21,000 alerts/;
  await expect(page.getByRole('listbox', { name: counted })).toBeVisible();

  const older = page.getByRole('button', { name: 'Continue with older alerts' });
  /** Turns the wheel until the condition holds. The test's own timeout is the limit. */
  const wheelUntil = async (isThere: () => Promise<boolean>) => {
    do {
      await page.mouse.wheel(0, 20_000);
      await nextFrame(page);
    } while (!(await isThere()));
  };
  // A slow browser once missed that the end of the list was visible.
  const browser = await page.context().newCDPSession(page);
  await browser.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const readLast = async () => Number(/\d+/.exec(await page.locator('tbody a').last().innerText())?.[0]);
  // A slow browser loads several pages.
  await wheelUntil(async () => (await readLast()) < alertCount - throttledCount);
  await browser.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  await wheelUntil(() => older.isVisible());
  expect(await page.locator('*').count()).toBeLessThan(6000);
  await older.click();
  await page.waitForURL('**/#/alerts?range=7d&before=*');
  const oldest = Number(/before=(\d+)/.exec(page.url())?.[1]);
  expect(oldest).toBeLessThanOrEqual(alertCount - 20_000 + 1);
  await expect(job(oldest - 1)).toBeVisible();
  await page.getByRole('button', { name: 'Show the newest' }).click();
  await expect(job(alertCount)).toBeVisible();
  expect(complaints).toEqual([]);
});
