import assert from 'node:assert/strict';
import { expect } from '@playwright/test';
import { test } from './support/console.ts';
import { findFaults } from './support/page.ts';

/** No account is in the settings, so the start message has a link. */
const withoutUsers = { adminPassword: undefined, readerPassword: undefined };

const strong = 'four words make one';

const readLink = (stdout: string): string => /\/console\/(#\/setup\?code=\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);

test('the link of the start message makes the first account once, with the keyboard alone and on a phone', async ({
  startApp,
  openConsole,
}) => {
  const app = await startApp({ settings: withoutUsers });
  const hash = readLink(app.output.stdout);
  const { page, complaints } = await openConsole({ app, hash, viewport: { width: 360, height: 740 } });
  await expect(page.getByRole('heading', { level: 1, name: 'Create the first account' })).toBeVisible();
  const password = page.getByLabel('Password', { exact: true });
  await expect(password).toHaveAttribute('autocomplete', 'new-password');
  await page.getByLabel('User name').focus();
  await page.keyboard.type('anna');
  await page.keyboard.press('Tab');
  await page.keyboard.type('password1234');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Password is easily guessed: use several words')).toBeVisible();
  await expect(password).toHaveAttribute('aria-invalid', 'true');
  await expect(password).toBeFocused();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show the password' }).press('Enter');
  await expect(password).toHaveAttribute('type', 'text');
  await page.getByRole('button', { name: 'Hide the password' }).press('Enter');
  await password.fill(strong);
  await password.press('Enter');
  await expect(page.getByText('Welcome, anna.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Connect' })).toBeVisible();
  await expect(page.getByRole('banner').getByRole('button', { name: 'anna, Admin' })).toBeVisible();
  await page.goto(`/console/${hash}`);
  await page.getByLabel('User name').fill('ben');
  await password.fill(strong);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByRole('alert').getByText('The link was used, or there is an account: log in.')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.evaluate('location.hash = "#/"');
  await page.evaluate('location.hash = "#/setup?code=wrong"');
  await page.getByLabel('User name').fill('ben');
  await password.fill(strong);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await expect(page.getByText(/restart the server for a new link, or run signalbox create-user\.$/)).toBeVisible();
  await page.evaluate('location.hash = "#/"');
  await page.evaluate('location.hash = "#/setup"');
  await expect(page.getByText('This page needs the whole link')).toBeVisible();
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('dialog', { name: 'Log in' })).toBeVisible();
  expect(complaints.filter((each) => !/40[03] \(/.test(each))).toEqual([]);
});
