import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, openConsole } from './console.ts';

interface Page {
  getComputedStyle(element: unknown): { color: string };
}

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

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

test('hostile alerts are shown as text, and long ones in full on request', { skip }, async (t) => {
  const app = await startApp(t);
  const ids: string[] = [];
  for (const text of hostile) ids.push(await send(app, { message: text, source: text, level: text, hostname: text }));
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/alerts' });
  await page.getByRole('link', { name: '<img src=x' }).waitFor();
  assert.equal(await page.getByRole('table', { name: 'Alerts' }).locator('img, script, b').count(), 0);
  assert.deepEqual(await findFaults(page), []);
  await page.goto(`/console/#/alerts/${ids[2]}`);
  const dialog = page.getByRole('dialog', { name: 'Alert' });
  await dialog.getByRole('button', { name: 'Show all of it' }).first().click();
  assert.ok((await dialog.textContent())?.includes('long'.repeat(2560)));
  assert.equal(await page.title(), 'Alerts · signalbox');
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('alerts are filtered by severity and text, and the filter is in the address', { skip }, async (t) => {
  const app = await startApp(t);
  await send(app, { message: 'first' });
  await send(app, { message: 'second', level: 'INFO' });
  await send(app, { message: 'third', level: 'INFO' });
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/alerts' });
  await page.getByRole('link', { name: 'first' }).waitFor();
  await page.getByRole('button', { name: /^Info/ }).click();
  await page.waitForURL('**/#/alerts?severity=INFO');
  await page.getByRole('link', { name: 'first' }).waitFor({ state: 'detached' });
  await page.getByLabel('Message contains').fill('SEC');
  await page.waitForURL('**/#/alerts?severity=INFO&q=SEC');
  await page.getByRole('link', { name: 'third' }).waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('link', { name: 'second' }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'first' }).waitFor();
  await page.getByLabel('Message contains').fill('nowhere');
  await page.getByText('No alert matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByRole('link', { name: 'first' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('repeats are folded with their count and can be shown one by one', { skip }, async (t) => {
  const app = await startApp(t);
  for (let count = 0; count < 4; count += 1) await send(app, {});
  await send(app, { message: 'another' });
  const { page } = await openConsole(t, browser, { app, hash: '#/alerts' });
  const links = page.getByRole('table', { name: 'Alerts' }).getByRole('link', { name: 'sda1 is full' });
  await page.getByRole('link', { name: '4 times' }).waitFor();
  assert.equal(await links.count(), 1);
  await page.getByLabel('Fold repeats').uncheck();
  await page.getByRole('link', { name: '4 times' }).waitFor({ state: 'detached' });
  assert.equal(await links.count(), 4);
});

test('one alert opens over the list at its own address with what came before and after', { skip }, async (t) => {
  const app = await startApp(t);
  for (const message of ['before', 'this one', 'after']) await send(app, { message });
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/alerts' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('link', { name: 'this one' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Alert' });
  await dialog.getByRole('link', { name: 'before' }).waitFor();
  await dialog.getByRole('link', { name: 'after' }).waitFor();
  await dialog.getByRole('button', { name: 'Copy as JSON' }).click();
  await page.getByRole('status').getByText('Copied').waitFor();
  const copied = JSON.parse(await page.evaluate('navigator.clipboard.readText()'));
  assert.equal(copied.message, 'this one');
  assert.match(page.url(), new RegExp(`#/alerts/${copied.id}$`));
  await page.reload();
  await dialog.getByText('this one').first().waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.waitForURL('**/#/alerts');
  await page.goto('/console/#/alerts/00000000-0000-7000-8000-000000000000');
  await page.getByText('This alert is not in the log').waitFor();
  assert.deepEqual(
    complaints.filter((text) => !text.includes('404')),
    [],
  );
});

test('older alerts are loaded while scrolling, and new ones do not move what is being read', { skip }, async (t) => {
  const app = await startApp(t);
  for (let number = 0; number < 350; number += 1) await send(app, { message: `alert ${number}.` });
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/alerts' });
  await page.getByRole('link', { name: 'alert 349.' }).waitFor();
  while ((await page.getByRole('link', { name: 'alert 300.' }).count()) === 0) await page.mouse.wheel(0, 300);
  await page.getByRole('link', { name: 'alert 300.' }).scrollIntoViewIfNeeded();
  const place = () => page.getByRole('link', { name: 'alert 300.' }).boundingBox();
  const before = await place();
  await send(app, { message: 'while reading' });
  await page.getByRole('button', { name: '1 new' }).waitFor();
  assert.deepEqual(await place(), before);
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByRole('link', { name: 'while reading' }).waitFor();
  while ((await page.getByRole('link', { name: 'alert 0.' }).count()) === 0) await page.mouse.wheel(0, 4000);
  assert.ok((await page.locator(rows).count()) < 150);
  assert.deepEqual(complaints, []);
});

test('a severity has one chip, however its level is written', { skip }, async (t) => {
  const app = await startApp(t);
  for (const level of ['WARNING', 'warning', 'WARN', 'whatever'])
    await sendAlert(app, { level, message: `as ${level}` });
  await sendAlert(app, { level: 'fatal', message: 'as fatal' });
  const { page } = await openConsole(t, browser, { app, hash: '#/alerts' });
  const chips = page.getByRole('group', { name: 'Severity' }).getByRole('button');
  await page.getByRole('button', { name: 'Warning 4' }).waitFor();
  assert.deepEqual(await chips.allTextContents(), ['Critical 1', 'Error 0', 'Warning 4', 'Info 0']);
  await page.getByRole('button', { name: 'Warning 4' }).click();
  await page.getByText('as fatal').waitFor({ state: 'detached' });
  for (const level of ['WARNING', 'warning', 'WARN', 'whatever'])
    await page.getByText(`as ${level}`, { exact: true }).waitFor();
});

test('an alert that is over says so and is not as loud as one that goes on', { skip }, async (t) => {
  const app = await startApp(t);
  const report = (status: string, name: string) =>
    app.request('POST', '/api/alert/alertmanager', {
      body: {
        status,
        alerts: [
          {
            ...{
              status,
              labels: { alertname: name, severity: 'critical' },
              annotations: { summary: `${name} is down` },
            },
            ...{ startsAt: '2026-01-31T09:30:00Z', endsAt: '2026-01-31T09:40:00Z', fingerprint: name },
          },
        ],
      },
    });
  for (const name of ['web-1', 'web-2']) await report('firing', name);
  const { page } = await openConsole(t, browser, { app, hash: '#/alerts' });
  const row = (name: RegExp) => page.getByRole('row', { name });
  await row(/Critical Firing .*web-1 is down/).waitFor();
  await report('resolved', 'web-1');
  await row(/Critical Resolved .*web-1 is down/).waitFor();
  await row(/Critical Firing .*web-2 is down/).waitFor();
  const color = (name: RegExp) =>
    row(name)
      .getByText('Critical')
      .evaluate((chip) => (globalThis as unknown as Page).getComputedStyle(chip).color);
  assert.notEqual(await color(/web-1 is down/), await color(/web-2 is down/));
  await page.getByRole('link', { name: 'web-1 is down', exact: true }).last().click();
  await page
    .getByRole('dialog')
    .getByRole('link', { name: /^Resolved / })
    .click();
  await page.getByRole('dialog').getByRole('link', { name: 'the alert that was firing' }).waitFor();
});

test('an empty list fits a phone, and a list that needs a login shows no zeros', { skip }, async (t) => {
  const { page } = await openConsole(t, browser, { hash: '#/alerts', viewport: { width: 360, height: 800 } });
  await page.getByText('No alerts yet').waitFor();
  assert.deepEqual(await findFaults(page), []);
  const closed = await openConsole(t, browser, { hash: '#/alerts', settings: { alertsAuth: 'bearer' } });
  await closed.page.getByText('Log in to see this').waitFor();
  for (const name of ['Critical', 'Message contains', 'Alerts over time'])
    assert.equal(await closed.page.getByText(name).count(), 0, name);
});

test('messages in a dialog can be used there, and stay while the pointer is over them', { skip }, async (t) => {
  const app = await startApp(t);
  const id = await sendAlert(app, { message: 'copy me' });
  const { page } = await openConsole(t, browser, { app, hash: `#/alerts/${id}` });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('dialog').getByRole('button', { name: 'Copy as JSON' }).click();
  const message = page.locator('.toast', { hasText: 'Copied' });
  await message.hover();
  await page.waitForTimeout(7000);
  assert.equal(await message.count(), 1);
  await message.getByRole('button', { name: 'Close' }).click();
  await message.waitFor({ state: 'detached' });
  await page.getByRole('dialog', { name: 'Alert' }).waitFor();
});
