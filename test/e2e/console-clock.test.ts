import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { sendAlert } from '../support/alerts.ts';
import { startApp } from '../support/app.ts';
import { startProxy } from '../support/proxy.ts';
import { waitUntil } from '../support/wait.ts';
import { openBrowser, toSkip } from './browser.ts';
import { logIn, openConsole, waitUntilLoaded } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const hour = 3_600_000;

/** Sets the browser's clock so many milliseconds before or after the server's, from the next page on. */
const shiftClock = (page: Page, by: number): Promise<unknown> =>
  page.addInitScript(`{
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ${by}) : super(...given); }
      static now() { return Real.now() + ${by}; }
    };
  }`);

for (const [words, by] of [
  ['behind', -2 * hour],
  ['ahead of', 2 * hour],
] as const) {
  test(`charts and times are right while the browser's clock is two hours ${words} the server's`, {
    skip,
  }, async (t) => {
    const app = await startApp(t);
    const id = await sendAlert(app, { level: 'ERROR', source: 'disk' });
    const { page } = await openConsole(t, browser, { app, hash: '#/nowhere' });
    await shiftClock(page, by);
    await page.reload();
    let readings = 0;
    page.on('response', (response) => {
      if (response.url().includes('/api/history')) readings += 1;
    });
    await page.goto('/console/#/');
    await waitUntil('the history is read again and again', () => readings >= 4);
    await page.goto('/console/#/alerts?range=1h');
    await page.getByRole('slider', { name: '1 h: 1 alert' }).waitFor();
    await page.goto(`/console/#/alerts/${id}`);
    await page
      .getByRole('dialog')
      .getByText(/ sec ago$|^now$/)
      .first()
      .waitFor();
  });
}

test('dates and numbers are written as the browser writes them', { skip }, async (t) => {
  const app = await startApp(t);
  const { page, complaints } = await openConsole(t, browser, { app, locale: 'ar-EG', timezoneId: 'America/St_Johns' });
  await page
    .getByRole('figure', { name: 'Load' })
    .getByText(/now [٠-٩]+٫[٠-٩]+/)
    .waitFor();
  const facts = (await page.getByRole('region', { name: 'Health' }).textContent()) ?? '';
  assert.match(facts, /Machine up for[٠-٩]/);
  assert.match(facts, /Running for[٠-٩]/);
  assert.deepEqual(complaints, []);
});

test('an alert of an earlier year shows its year, and one without a valid time is shown too', { skip }, async (t) => {
  const app = await startApp(t);
  await sendAlert(app, { level: 'ERROR', message: 'from long ago' });
  await sendAlert(app, { level: 'ERROR', message: 'from nowhen' });
  const baseURL = await startProxy(t, app.url, (_, path, body) => {
    if (!path.startsWith('/api/alerts/search')) return undefined;
    const page = JSON.parse(body);
    page.data[0].time = 'nowhen';
    page.data[1].time = '1999-12-31T12:00:00Z';
    return JSON.stringify(page);
  });
  const { page } = await openConsole(t, browser, { app, baseURL, hash: '#/alerts' });
  await page.getByRole('row', { name: /1999.*from long ago/ }).waitFor();
  await page.getByRole('row', { name: /–.*from nowhen/ }).waitFor();
});

test('no address makes a screen fail', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser);
  await logIn(page, 'admin');
  const hashes = [
    ...['#/alerts?since=garbage', '#/alerts?before=-5&range=toString', '#/alerts?sort=x-down&level=%00'],
    ...['#/alerts?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z', '#/tasks/%E0%A4%A', '#/tasks?status=Nope'],
    ...['#/processes?sort=__proto__&pin=abc', '#/items?page=99999999999999', '#/commands/Nope?as=constructor'],
    ...['#/audit?sort=zzz-down&count=-1', '#/audit/%00', '#/?range=century'],
  ];
  for (const hash of hashes) {
    await page.goto(`/console/${hash}`);
    await waitUntilLoaded(page);
    assert.equal(await page.getByText('This screen has failed').count(), 0, hash);
  }
  assert.deepEqual(
    complaints.filter((each) => !each.includes('status of 40')),
    [],
  );
});
