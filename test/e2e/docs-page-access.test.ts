import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { openBrowser, toSkip } from './browser.ts';
import { openAll, openDocs, readRoutes } from './docs-page.ts';

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** The violations found by axe, best practices included, one line per place. */
const listViolations = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
};

const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent.trim()');

/** The violations in both colour schemes, one line per place. */
const listAllViolations = async (page: Page): Promise<string[]> => {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await listViolations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.equal(await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches'), true);
  return [...light, ...(await listViolations(page))];
};

test('axe finds no violation in light and dark mode with every route open', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await openAll(page);
  assert.deepEqual(await listAllViolations(page), []);
});

test('axe finds no violation in light and dark mode when the list cannot be read', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { status: 503, document: '' });
  await page.getByRole('alert').waitFor();
  assert.deepEqual(await listAllViolations(page), []);
});

test('the page fits windows from 320 pixels wide', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await openAll(page);
  for (const width of [320, 480, 640, 840, 1000]) {
    await page.setViewportSize({ width, height: 700 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  }
});

test('the first Tab focuses a link that skips to the routes', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await readRoutes(page);
  await page.keyboard.press('Tab');
  assert.equal(await focused(page), 'Skip to the routes');
  await page.keyboard.press('Enter');
  assert.equal(await focused(page), 'Routes');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.id'), 'words');
});

test('slash focuses the filter, Enter opens the first match, and Escape clears the filter', {
  skip,
}, async (t) => {
  const { page, complaints } = await openDocs(t, browser);
  const all = await readRoutes(page);
  await page.keyboard.press('/');
  await page.keyboard.type('PUT  protected/');
  assert.deepEqual(await readRoutes(page), ['PUT /protected/api/tasks/{id} open']);
  assert.equal(await page.getByRole('status').textContent(), `1 of ${all.length} routes`);
  await page.keyboard.press('Enter');
  assert.match(await focused(page), /^PUT \/protected\/api\/tasks\/\{id\} /);
  assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('details[open]').count(), 1);
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  assert.deepEqual(await readRoutes(page), all);
  assert.deepEqual(complaints, []);
});

test('every link, field and route can be reached with Tab alone', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await readRoutes(page);
  const stops = await page.locator('a:visible, input:visible, summary:visible').count();
  const seen = new Set<string>();
  for (let stop = 0; stop < stops; stop += 1) {
    await page.keyboard.press('Tab');
    seen.add(await page.evaluate('document.activeElement.outerHTML'));
  }
  assert.equal(seen.size, stops);
});

test('a filter without matches shows a message', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  const { length } = await readRoutes(page);
  await page.getByLabel('Filter').fill('no such route');
  const words = `No match in ${length} routes. Press Escape to see them all.`;
  assert.equal(await page.getByRole('status').textContent(), words);
  assert.equal(await page.locator('summary:visible, h3:visible, nav a:visible').count(), 0);
});

test('the page has no animations for users who prefer reduced motion', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { reducedMotion: 'reduce' });
  assert.equal(await page.evaluate('getComputedStyle(document.documentElement).scrollBehavior'), 'auto');
  assert.equal(await page.evaluate('document.getAnimations().length'), 0);
});
