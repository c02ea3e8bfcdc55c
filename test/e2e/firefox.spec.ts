import { existsSync } from 'node:fs';
import { expect } from '@playwright/test';
import puppeteer from 'puppeteer-core';
import { passwords } from '../support/credentials.ts';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';

/** Release version of Firefox, driven through WebDriver BiDi, because Playwright itself supports only its own build. */
const executablePath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));

test('in Firefox the console opens, a login works, and a new alert appears immediately', async ({
  scope,
  serveApp,
}) => {
  test.skip(executablePath === undefined && process.env['CI'] !== 'true', 'no Firefox is installed here');
  test.slow();
  const app = await serveApp();
  const browser = await puppeteer.launch({ browser: 'firefox', executablePath: executablePath ?? 'firefox' });
  scope.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(100_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['warn', 'error'].includes(message.type())) complaints.push(message.text());
  });

  await page.goto(`${app.url}/console/#/alerts`);
  await page.locator('::-p-aria([name="Log in"][role="button"])').click();
  await page.locator('input[autocomplete=username]').fill('admin');
  await page.locator('input[type=password]').fill(passwords.admin);
  await page.keyboard.press('Enter');
  await page.locator('::-p-aria([name="admin, Admin"])').wait();
  await page.locator('::-p-text(No alerts yet)').wait();
  await page.locator('.connection.live').wait();
  await sendAlert(app, { level: 'ERROR', source: 'disk', message: 'sda1 is full' });
  await page.locator('::-p-aria([name="sda1 is full"][role="link"])').wait();
  expect(complaints).toEqual([]);
});
