import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBrowser, toSkip } from './browser.ts';
import { openDocs, readRoutes } from './docs-page.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const contents = (page: Page) => page.getByRole('navigation', { name: 'Profiles' });
const toggle = (page: Page, name: string) =>
  contents(page).getByRole('button', { name: `Routes of ${name}`, exact: true });

/** The routes in the list of contents. */
const listShown = async (page: Page): Promise<string[]> => {
  const texts = await contents(page).locator('li li:visible').allTextContents();
  return texts.map((text) => text.trim());
};

test('the list of contents shows the routes of the group that is read, and those that are asked for', {
  skip,
}, async (t) => {
  const { page, complaints } = await openDocs(t, browser);
  await readRoutes(page);
  assert.deepEqual((await listShown(page)).slice(0, 2), ['GET /health', 'GET /livez']);
  assert.ok(!(await listShown(page)).includes('POST /api/tasks'));
  await toggle(page, 'tasks').press('Enter');
  assert.equal(await toggle(page, 'tasks').getAttribute('aria-expanded'), 'true');
  await contents(page).getByRole('link', { name: 'POST /api/tasks', exact: true }).press('Enter');
  await page.waitForURL('**/docs/#createTask');
  const current = contents(page).locator('[aria-current=location]');
  await contents(page)
    .locator('[aria-current=location]', { hasText: /^tasks$/ })
    .waitFor();
  assert.deepEqual(await current.allTextContents(), ['tasks', 'POST /api/tasks']);
  // The group that was left shows its routes no longer; the one that was opened stays open until it is closed.
  assert.equal(await toggle(page, 'monitoring').getAttribute('aria-expanded'), 'false');
  await toggle(page, 'tasks').press('Enter');
  assert.deepEqual(await listShown(page), []);
  assert.deepEqual(complaints, []);
});

test('the link to the last group brings it to the top and marks it', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await readRoutes(page);
  const link = contents(page).getByRole('link', { name: 'simple-tasks /simple' });
  await link.click();
  await contents(page).locator('[aria-current=location]', { hasText: 'simple-tasks' }).waitFor();
  assert.equal(await contents(page).locator('.group-line [aria-current]').count(), 1);
});

test('the filter leaves only matching routes in the list of contents, and shows them', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await readRoutes(page);
  await page.getByLabel('Filter').fill('disks');
  const shown = await listShown(page);
  assert.ok(shown.includes('GET /api/disks') && shown.length < 4, String(shown));
  await page.getByLabel('Filter').fill('/simple/api/tasks');
  assert.ok((await listShown(page)).includes('POST /simple/api/tasks'));
  await page.keyboard.press('Escape');
  assert.deepEqual((await listShown(page)).slice(0, 2), ['GET /health', 'GET /livez']);
});

test('in a narrow window the list of contents has only the groups', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { viewport: { width: 360, height: 800 } });
  await readRoutes(page);
  assert.deepEqual(await listShown(page), []);
  assert.equal(await contents(page).getByRole('button').count(), 0);
  await contents(page).getByRole('link', { name: 'alerts', exact: true }).click();
  await page.waitForURL('**/docs/#/:alerts');
});
