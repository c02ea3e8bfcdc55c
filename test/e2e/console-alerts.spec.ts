import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { answer } from '../support/receiver.ts';
import { sendAlert, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn, nextFrame } from './support/page.ts';
import { startPager } from './support/pager.ts';

const hostile = [
  '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  '\u202eright to left\u202c \u2067isolate',
  'long'.repeat(2560),
  '=HYPERLINK("http://example.org")',
  '\u0007\u001b[31mred',
];

const send = (app: TestApp, fields: Record<string, string>): Promise<string> =>
  sendAlert(app, { level: 'ERROR', source: 'disk', message: 'sda1 is full', hostname: 'web-1', ...fields });

const rows = '[role=row], tbody tr';

test('hostile alerts are shown as text, and long alerts in full on request', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const ids: string[] = [];
  for (const text of hostile) ids.push(await send(app, { message: text, source: text, level: text, hostname: text }));
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await expect(page.getByRole('link', { name: '<img src=x' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Alerts' }).locator('img, script, b')).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await page.goto(`/console/#/alerts/${ids[2]}`);
  const dialog = page.getByRole('dialog', { name: 'Alert' });
  await dialog.getByRole('button', { name: 'Show all' }).first().click();
  expect((await dialog.textContent())?.includes('long'.repeat(2560))).toBeTruthy();
  await expect(page).toHaveTitle('(5) Alerts · signalbox');
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('an alert that arrives during the list request is shown, although the response lacks it', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const { page } = await openConsole({ app, hash: '#/nowhere' });
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answered = new Promise<void>((resolve) => {
    void page.route('**/api/alerts/search*', async (route) => {
      const response = await route.fetch();
      resolve();
      await isReleased;
      await route.fulfill({ response });
    });
  });
  await page.goto('/console/#/alerts');
  await answered;
  await send(app, { message: 'between' });
  // The live histogram shows that the event has arrived.
  await expect(page.getByRole('button', { name: /^Error 1/ })).toBeVisible();
  release();
  await expect(page.getByRole('link', { name: 'between' })).toBeVisible();
});

test('alerts can be filtered by severity and text, and the address contains the filters', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  await send(app, { message: 'first' });
  await send(app, { message: 'second', level: 'INFO' });
  await send(app, { message: 'third', level: 'INFO' });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await expect(page.getByRole('link', { name: 'first' })).toBeVisible();
  await page.getByRole('button', { name: /^Info/ }).click();
  await page.waitForURL('**/#/alerts?severity=INFO');
  await expect(page.getByRole('link', { name: 'first' })).toHaveCount(0);
  await page.getByLabel('Message contains').fill('SEC');
  await page.waitForURL('**/#/alerts?severity=INFO&q=SEC');
  await expect(page.getByRole('link', { name: 'third' })).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole('link', { name: 'second' })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole('link', { name: 'first' })).toBeVisible();
  await page.getByLabel('Message contains').fill('nowhere');
  await expect(page.getByText('No matching alerts')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await expect(page.getByRole('link', { name: 'first' })).toBeVisible();
  expect(complaints).toEqual([]);
});

test('all alerts that match a pattern are saved as CSV, and new matching alerts appear', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  for (let count = 0; count < 120; count += 1) await send(app, { message: `m${count}` });
  await send(app, { hostname: 'mail', message: 'left out' });
  await send(app, { message: '=1+1' });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await page.getByLabel('Host is').fill('WEB*');
  await page.waitForURL('**/#/alerts?hostname=WEB*');
  await expect(page.getByRole('link', { name: 'left out' })).toHaveCount(0);
  await send(app, { message: 'new' });
  await expect(page.getByRole('link', { name: 'new', exact: true })).toBeVisible();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('alerts.csv');
  const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
  expect(lines.length).toBe(124);
  expect(lines[1]).toContain(',disk,web-1,new,');
  expect(lines[2]).toContain(",disk,web-1,'=1+1,");
  expect(complaints).toEqual([]);
});

test('an alert whose incident notified people shows the destinations, and not that it was delivered nowhere', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const { destinations } = await startPager(scope, answer(200));
  const settings = { destinations: destinations.map((one) => ({ ...one, notify: 'incidents', groupSeconds: 0 })) };
  const app = await serveApp({ settings });
  await send(app, {});
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await logIn(page, 'reader');
  await page.getByRole('link', { name: 'sda1 is full' }).click();
  const dialog = page.getByRole('dialog', { name: 'Alert' });
  await expect(dialog.getByRole('link', { name: 'Notifications are sent for incident #1' })).toBeVisible();
  await expect(dialog.getByText('pager', { exact: true })).toBeVisible();
  await expect(dialog.getByText('Not sent to any destination.')).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('repeats are folded, show their count, and can be unfolded', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  for (let count = 0; count < 4; count += 1) await send(app, {});
  await send(app, { message: 'another' });
  const { page } = await openConsole({ app, hash: '#/alerts' });
  const links = page.getByRole('table', { name: 'Alerts' }).getByRole('link', { name: 'sda1 is full' });
  await expect(page.getByRole('link', { name: '4 times' })).toBeVisible();
  await expect(links).toHaveCount(1);
  await page.getByLabel('Collapse repeats').uncheck();
  await expect(page.getByRole('link', { name: '4 times' })).toHaveCount(0);
  await expect(links).toHaveCount(4);
});

test('an alert opens over the list at its own address, with links to the previous and next alert', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  for (const message of ['before', 'this one', 'after']) await send(app, { message });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('link', { name: 'this one' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Alert' });
  await expect(dialog.getByRole('link', { name: 'before' })).toBeVisible();
  await expect(dialog.getByRole('link', { name: 'after' })).toBeVisible();
  await dialog.getByRole('button', { name: 'Copy as JSON' }).click();
  await expect(page.getByRole('status').getByText('Copied')).toBeVisible();
  const copied = JSON.parse(await page.evaluate('navigator.clipboard.readText()'));
  expect(copied.message).toBe('this one');
  await expect(page).toHaveURL(new RegExp(`#/alerts/${copied.id}$`));
  await page.reload();
  await expect(dialog.getByText('this one').first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await page.waitForURL('**/#/alerts');
  await page.goto('/console/#/alerts/00000000-0000-7000-8000-000000000000');
  await expect(page.getByText('Alert not found')).toBeVisible();
  expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
});

test('scrolling loads older alerts, and new alerts do not move the visible rows', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  for (let number = 0; number < 350; number += 1) await send(app, { message: `alert ${number}.` });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await expect(page.getByRole('link', { name: 'alert 349.' })).toBeVisible();
  while ((await page.getByRole('link', { name: 'alert 300.' }).count()) === 0) await page.mouse.wheel(0, 300);
  await page.getByRole('link', { name: 'alert 300.' }).scrollIntoViewIfNeeded();
  const place = () => page.getByRole('link', { name: 'alert 300.' }).boundingBox();
  const before = await place();
  await send(app, { message: 'while reading' });
  await expect(page.getByRole('button', { name: '1 new' })).toBeVisible();
  expect(await place()).toEqual(before);
  await page.getByRole('button', { name: '1 new' }).click();
  await expect(page.getByRole('link', { name: 'while reading' })).toBeVisible();
  while ((await page.getByRole('link', { name: 'alert 0.' }).count()) === 0) await page.mouse.wheel(0, 4000);
  expect(await page.locator(rows).count()).toBeLessThan(150);
  expect(complaints).toEqual([]);
});

test('a severity has one chip for all spellings of its level', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  for (const level of ['WARNING', 'warning', 'WARN', 'whatever'])
    await sendAlert(app, { level, message: `as ${level}` });
  await sendAlert(app, { level: 'fatal', message: 'as fatal' });
  const { page } = await openConsole({ app, hash: '#/alerts' });
  const chips = page.getByRole('group', { name: 'Severity' }).getByRole('button');
  await expect(page.getByRole('button', { name: 'Warning 4' })).toBeVisible();
  expect(await chips.allTextContents()).toEqual(['Critical 1', 'Error 0', 'Warning 4', 'Info 0']);
  await page.getByRole('button', { name: 'Warning 4' }).click();
  await expect(page.getByText('as fatal')).toHaveCount(0);
  for (const level of ['WARNING', 'warning', 'WARN', 'whatever'])
    await expect(page.getByText(`as ${level}`, { exact: true })).toBeVisible();
});

test('a resolved alert is marked and stands out less than a firing alert', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const report = (status: string, name: string) =>
    app.request('POST', '/api/alert/alertmanager', {
      body: {
        status,
        alerts: [
          {
            status,
            labels: { alertname: name, severity: 'critical' },
            annotations: { summary: `${name} is down` },
            startsAt: '2026-01-31T09:30:00Z',
            endsAt: '2026-01-31T09:40:00Z',
            fingerprint: name,
          },
        ],
      },
    });
  for (const name of ['web-1', 'web-2']) await report('firing', name);
  const { page } = await openConsole({ app, hash: '#/alerts' });
  const row = (name: RegExp) => page.getByRole('row', { name });
  await expect(row(/Critical Firing .*web-1 is down/)).toBeVisible();
  await report('resolved', 'web-1');
  await expect(row(/Critical Resolved .*web-1 is down/)).toBeVisible();
  await expect(row(/Critical Firing .*web-2 is down/)).toBeVisible();
  const color = (name: RegExp) =>
    row(name)
      .getByText('Critical')
      .evaluate((chip) => getComputedStyle(chip).color);
  expect(await color(/web-1 is down/)).not.toBe(await color(/web-2 is down/));
  await page.getByRole('link', { name: 'web-1 is down', exact: true }).last().click();
  await page
    .getByRole('dialog')
    .getByRole('link', { name: /^Resolved / })
    .click();
  await expect(page.getByRole('dialog').getByRole('link', { name: 'the alert that was firing' })).toBeVisible();
});

test('an empty list fits a phone, and a list behind a login shows no zeros', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/alerts', viewport: { width: 360, height: 800 } });
  await expect(page.getByText('No alerts yet')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  const closed = await openConsole({ hash: '#/alerts', settings: { alertsAuth: 'bearer' } });
  await expect(closed.page.getByText('Log in to see this content')).toBeVisible();
  for (const name of ['Critical', 'Message contains', 'Alerts over time'])
    await expect(closed.page.getByText(name), name).toHaveCount(0);
});

test('messages in a dialog can be clicked, and stay while the pointer is over them', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const id = await sendAlert(app, { message: 'copy me' });
  const { page } = await openConsole({ app, hash: `#/alerts/${id}`, hasClock: true });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('dialog').getByRole('button', { name: 'Copy as JSON' }).click();
  const message = page.locator('.toast', { hasText: 'Copied' });
  await message.hover();
  await nextFrame(page);
  await page.clock.fastForward(7000);
  await expect(message).toHaveCount(1);
  await message.getByRole('button', { name: 'Close' }).click();
  await expect(message).toHaveCount(0);
  await expect(page.getByRole('dialog', { name: 'Alert' })).toBeVisible();
});

test('chips and bars count only alerts that match the filters', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await send(app, { source: 'shop', message: 'one' });
  await send(app, { source: 'shop', level: 'CRITICAL', message: 'two' });
  await send(app, { source: 'mail', message: 'three' });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts?source=shop' });
  const chip = (name: RegExp) => page.getByRole('button', { name });
  await expect(chip(/^Error 1$/)).toBeVisible();
  await expect(chip(/^Critical 1$/)).toBeVisible();
  await send(app, { source: 'mail', message: 'four' });
  await send(app, { source: 'shop', message: 'five' });
  await expect(chip(/^Error 2$/)).toBeVisible();
  await page.evaluate('location.hash = "#/alerts?q=t"');
  await expect(chip(/^Error 1$/)).toBeVisible();
  await expect(chip(/^Critical 1$/)).toBeVisible();
  await chip(/^Critical 1$/).click();
  await expect(chip(/^Error 1$/)).toBeVisible();
  await expect(page.getByRole('listbox', { name: /: 1 alert$/ })).toBeVisible();
  expect(complaints).toEqual([]);
});
