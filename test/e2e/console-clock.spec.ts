import { expect, type Locator, type Page } from '@playwright/test';
import { startProxy } from '../support/proxy.ts';
import { waitUntil } from '../support/wait.ts';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { logIn, waitUntilLoaded } from './support/page.ts';

const hour = 3_600_000;

/** Shifts the browser's clock by a number of milliseconds. Takes effect at the next page load. */
const shiftClock = (page: Page, by: number): Promise<unknown> =>
  page.addInitScript(`{
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ${by}) : super(...given); }
      static now() { return Real.now() + ${by}; }
    };
  }`);

/** Expects the element to show a time a few seconds ago. */
const expectJustNow = (place: Locator): Promise<void> =>
  expect(place.getByText(/ sec\.? ago$|^now$/).first()).toBeVisible();

for (const [words, by] of [
  ['behind', -2 * hour],
  ['ahead of', 2 * hour],
] as const) {
  test(`charts and times are correct while the browser's clock is two hours ${words} the server's`, async ({
    serveApp,
    openConsole,
  }) => {
    const app = await serveApp();
    const id = await sendAlert(app, { level: 'ERROR', source: 'disk' });
    const { page } = await openConsole({ app, hash: '#/nowhere' });
    await shiftClock(page, by);
    await page.reload();
    await page.goto('/console/#/');
    await expect(page.getByText(/^busy: now .* %/)).toBeAttached();
    await page.goto('/console/#/alerts?range=1h');
    await expect(page.getByRole('listbox', { name: '1 h: 1 alert' })).toBeVisible();
    await page.goto(`/console/#/alerts/${id}`);
    await expectJustNow(page.getByRole('dialog'));
  });
}

for (const [locale, hour] of [
  ['de-DE', /^0[01]:\d\d:\d\d$/],
  ['ar-EG', /^12:\d\d:\d\d am$|^1:\d\d:\d\d am$/],
  ['en-US', /^12:\d\d:\d\d AM$|^1:\d\d:\d\d AM$/],
] as const) {
  test(`a browser in ${locale} uses English formats with its own hour cycle, in its own time zone or the server's`, async ({
    serveApp,
    openConsole,
  }) => {
    const app = await serveApp();
    await app.request('POST', '/api/tasks', { body: { Title: 'a task' } });
    await sendAlert(app, { message: 'an alert' });
    // Time zone in which midnight has just passed.
    const offset = new Date().getUTCHours() - (new Date().getUTCHours() < 12 ? 0 : 24);
    const timezoneId = offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '+' : ''}${offset}`;
    const { page, complaints } = await openConsole({ app, locale, timezoneId, hash: '#/tasks' });
    const written = (name: string) => page.getByRole('row', { name }).locator('time').textContent();
    await expect(page.getByRole('row', { name: 'a task' })).toBeVisible();
    expect(((await written('a task')) ?? '').replace(/\s/g, ' ')).toMatch(hour);
    await page.goto('/console/#/alerts');
    await expect(page.getByRole('row', { name: 'an alert' })).toBeVisible();
    expect(((await written('an alert')) ?? '').replace(/\s/g, ' ')).toMatch(hour);
    await page.getByRole('link', { name: 'an alert' }).click();
    await expectJustNow(page.getByRole('dialog'));
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
  });
}

test('the chosen time zone is named, used everywhere, and remembered', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  await app.request('POST', '/api/tasks', { body: { Title: 'a task' } });
  const { json } = await app.request('GET', '/api/tasks/1');
  const onServer = String(json['CreatedAt']).slice(11);
  const timezoneId = 'Asia/Tokyo';
  const { page } = await openConsole({ app, timezoneId, hash: '#/tasks' });
  const shown = () => page.getByRole('row', { name: 'a task' }).locator('time').textContent();
  await page.getByRole('button', { name: 'Times are in Asia/Tokyo, UTC+9' }).click();
  const there = new Date(`${json['CreatedAt']}`).toLocaleTimeString('en-GB', { timeZone: timezoneId });
  expect(await shown()).toBe(there);
  await page.getByRole('radio', { name: /^the server/ }).check();
  await waitUntil("the server's time is shown", async () => (await shown()) === onServer);
  await page.reload();
  await expect(page.getByRole('button', { name: new RegExp(`^Times are in ${timeZone}`) })).toBeVisible();
  await expect(page.getByRole('row', { name: 'a task' })).toBeVisible();
  expect(await shown()).toBe(onServer);
});

test('an alert from an earlier year shows the year, and an alert without a valid time is shown', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  await sendAlert(app, { level: 'ERROR', message: 'from long ago' });
  await sendAlert(app, { level: 'ERROR', message: 'from nowhen' });
  const baseURL = await startProxy(scope, app.url, (_, path, body) => {
    if (!path.startsWith('/api/alerts/search')) return undefined;
    const page = JSON.parse(body);
    page.data[0].time = 'nowhen';
    page.data[1].time = '1999-12-31T12:00:00Z';
    return JSON.stringify(page);
  });
  const { page } = await openConsole({ app, baseURL, hash: '#/alerts' });
  await expect(page.getByRole('row', { name: /1999.*from long ago/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /–.*from nowhen/ })).toBeVisible();
});

test('no address breaks a screen', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
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
    await expect(page.getByText('This screen has crashed'), hash).toHaveCount(0);
  }
  expect(complaints.filter((each) => !each.includes('status of 40'))).toEqual([]);
});
