import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, logIn, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const lines = ['Get-Process -Name sshd*', 'Remove-Item /', '<b>bold</b>', 'Get-Process -Name "no such process"'];

/** An app in which the admin has sent the lines. */
const start = async (t: TestContext) => {
  const app = await startApp(t);
  const token = await app.login('admin');
  for (const command of lines) await app.request('POST', '/api/execute', { token, body: { command } });
  return app;
};

test('the audit shows who ran what to an admin, refusals with their reason included', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { app: await start(t), hash: '#/audit' });
  await page.getByText('Log in to see this').waitFor();
  await logIn(page, 'admin');
  const table = page.getByRole('table', { name: 'Audit' });
  await table.getByRole('link', { name: 'Get-Process -Name sshd*' }).waitFor();
  const row = table.getByRole('row').filter({ hasText: 'Remove-Item' });
  for (const part of ['Refused', 'admin', /is not allowed/]) await row.getByText(part).first().waitFor();
  await table.getByRole('link', { name: '<b>bold</b>' }).waitFor();
  assert.equal(await table.locator('b b, script').count(), 0);
  assert.deepEqual(await findFaults(page), []);
  await row.getByRole('link').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Command' });
  await dialog.getByText(/is not allowed; allowed are/).waitFor();
  await dialog.getByText('127.0.0.1').waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.keyboard.press('Escape');
  await page.waitForURL('**/#/audit');
  await page.goto('/console/#/audit/nothing');
  await dialog.getByText('This command is not among those loaded').waitFor();
  assert.deepEqual(complaints, []);
});

test('the audit is filtered by user, result, time and text, and the filter is in the address', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { app: await start(t), hash: '#/audit' });
  await logIn(page, 'admin');
  const shown = async (expected: string) => page.getByRole('status').getByText(expected, { exact: true }).waitFor();
  await shown('4 commands');
  await page.getByLabel('Result').selectOption('Refused');
  await page.waitForURL('**/#/audit?result=refused');
  await shown('2 of 4 commands');
  await page.getByLabel('Command or reason contains').fill('REMOVE');
  await shown('1 of 4 commands');
  await page.goBack();
  await shown('4 commands');
  await page.getByLabel('Result').selectOption('Failed');
  await shown('1 of 4 commands');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('User').selectOption('admin');
  await shown('4 commands');
  await page.getByLabel('From').fill('2099-01-31T09:30');
  await page.getByText('No command matches').waitFor();
  await page.waitForURL('**/#/audit?user=admin&since=2099-01-31T09%3A30');
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByLabel('Until').fill('2099-01-31T09:30');
  await shown('4 commands');
  assert.deepEqual(complaints, []);
});

test('commands of others appear in the audit while it is open', { skip }, async (t) => {
  const { page, app, complaints } = await openConsole(t, browser, { hash: '#/audit' });
  await logIn(page, 'admin');
  await page.getByText('No commands yet').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  const token = await app.login('admin');
  for (const command of ['Get-Date', 'Remove-Item /']) {
    await app.request('POST', '/api/execute', { token, body: { command } });
    await page.getByRole('link', { name: command.split(' ')[0] ?? '' }).waitFor();
  }
  assert.deepEqual(complaints, []);
});

test('the audit needs the role Admin', { skip }, async (t) => {
  const { page } = await openConsole(t, browser, { hash: '#/audit' });
  await logIn(page, 'reader');
  await page.getByText('This needs a user with the role Admin.').waitFor();
});
