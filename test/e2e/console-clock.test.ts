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
    await page.goto('/console/#/');
    await page.getByText(/^busy: now .* %/).waitFor({ state: 'attached' });
    await page.goto('/console/#/alerts?range=1h');
    await page.getByRole('listbox', { name: '1 h: 1 alert' }).waitFor();
    await page.goto(`/console/#/alerts/${id}`);
    await page
      .getByRole('dialog')
      .getByText(/ sec\.? ago$|^now$/)
      .first()
      .waitFor();
  });
}

for (const [locale, hour] of [
  ['de-DE', /^0[01]:\d\d:\d\d$/],
  ['ar-EG', /^12:\d\d:\d\d am$|^1:\d\d:\d\d am$/],
  ['en-US', /^12:\d\d:\d\d AM$|^1:\d\d:\d\d AM$/],
] as const) {
  test(`a browser in ${locale} shows English formats and its own hours, in its own zone or the server's`, {
    skip,
  }, async (t) => {
    const app = await startApp(t);
    await app.request('POST', '/api/tasks', { body: { Title: 'a task' } });
    await sendAlert(app, { message: 'an alert' });
    // A zone in which it is just after midnight.
    const offset = new Date().getUTCHours() - (new Date().getUTCHours() < 12 ? 0 : 24);
    const timezoneId = offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '+' : ''}${offset}`;
    const { page, complaints } = await openConsole(t, browser, { app, locale, timezoneId, hash: '#/tasks' });
    const written = (name: string) => page.getByRole('row', { name }).locator('time').textContent();
    await page.getByRole('row', { name: 'a task' }).waitFor();
    assert.match(((await written('a task')) ?? '').replace(/\s/g, ' '), hour);
    await page.goto('/console/#/alerts');
    await page.getByRole('row', { name: 'an alert' }).waitFor();
    assert.match(((await written('an alert')) ?? '').replace(/\s/g, ' '), hour);
    await page.getByRole('link', { name: 'an alert' }).click();
    await page
      .getByRole('dialog')
      .getByText(/ sec\.? ago$|^now$/)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    assert.deepEqual(complaints, []);
  });
}

test('one zone is named and shown everywhere, and the choice is kept', { skip }, async (t) => {
  const app = await startApp(t);
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  await app.request('POST', '/api/tasks', { body: { Title: 'a task' } });
  const { json } = await app.request('GET', '/api/tasks/1');
  const onServer = String(json['CreatedAt']).slice(11);
  const timezoneId = 'Asia/Tokyo';
  const { page } = await openConsole(t, browser, { app, timezoneId, hash: '#/tasks' });
  const shown = () => page.getByRole('row', { name: 'a task' }).locator('time').textContent();
  await page.getByRole('button', { name: 'Times are in Asia/Tokyo (UTC+9)' }).click();
  const there = new Date(`${json['CreatedAt']}`).toLocaleTimeString('en-GB', { timeZone: timezoneId });
  assert.equal(await shown(), there);
  await page.getByRole('radio', { name: /^the server/ }).check();
  await waitUntil("the server's time is shown", async () => (await shown()) === onServer);
  await page.reload();
  await page.getByRole('button', { name: new RegExp(`^Times are in ${timeZone}`) }).waitFor();
  await page.getByRole('row', { name: 'a task' }).waitFor();
  assert.equal(await shown(), onServer);
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
