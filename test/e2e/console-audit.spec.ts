import { expect } from '@playwright/test';
import type { Scope } from '../support/scope.ts';
import { serveApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const lines = ['Get-Process -Name sshd*', 'Remove-Item /', '<b>bold</b>', 'Get-Process -Name "no such process"'];

/** Starts an app, and runs the commands as admin. */
const start = async (scope: Scope) => {
  const app = await serveApp(scope);
  const token = await app.login('admin');
  for (const command of lines) await app.request('POST', '/api/execute', { token, body: { command } });
  return app;
};

test('the audit shows an Admin each command with its user, and refused commands with the reason', async ({
  scope,
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ app: await start(scope), hash: '#/audit' });
  await expect(page.getByText('Log in to see this content')).toBeVisible();
  await logIn(page, 'admin');
  const table = page.getByRole('table', { name: 'Audit' });
  await expect(table.getByRole('link', { name: 'Get-Process -Name sshd*' })).toBeVisible();
  const row = table.getByRole('row').filter({ hasText: 'Remove-Item' });
  for (const part of ['Refused', 'admin', /is not allowed/]) await expect(row.getByText(part).first()).toBeVisible();
  await expect(table.getByRole('link', { name: '<b>bold</b>' })).toBeVisible();
  await expect(table.locator('b b, script')).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await row.getByRole('link').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Command' });
  await expect(dialog.getByText(/is not allowed; allowed are/)).toBeVisible();
  await expect(dialog.getByText('127.0.0.1')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.waitForURL('**/#/audit');
  await page.goto('/console/#/audit/nothing');
  await expect(dialog.getByText('Command not found')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('the audit can be filtered by user, result, time and text, and the address contains the filters', async ({
  scope,
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ app: await start(scope), hash: '#/audit' });
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
  await expect(page.getByText('No matching commands')).toBeVisible();
  await page.waitForURL('**/#/audit?user=admin&since=2099-01-31T09%3A30');
  await page.getByRole('button', { name: 'Clear filters' }).last().click();
  await page.getByLabel('Until').fill('2099-01-31T09:30');
  await shown('4 commands');
  expect(complaints).toEqual([]);
});

test("other users' commands appear in an open audit", async ({ openConsole }) => {
  const { page, app, complaints } = await openConsole({ hash: '#/audit' });
  await logIn(page, 'admin');
  await expect(page.getByText('No commands yet')).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const token = await app.login('admin');
  for (const command of ['Get-Date', 'Remove-Item /']) {
    await app.request('POST', '/api/execute', { token, body: { command } });
    await expect(page.getByRole('link', { name: command.split(' ')[0] ?? '' })).toBeVisible();
  }
  expect(complaints).toEqual([]);
});

test('the audit shows a Reader that only Admins have access, without sending a request', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ hash: '#/' });
  await logIn(page, 'reader');
  await page.evaluate("location.hash = '/audit'");
  await expect(page.getByText('Only users with the role Admin have access.')).toBeVisible();
  expect(complaints).toEqual([]);
});
