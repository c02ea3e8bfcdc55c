import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startApp, type TestApp } from '../support/app.ts';
import { waitUntil } from '../support/wait.ts';
import { openBrowser, toSkip } from './browser.ts';
import { logIn, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** The accessible name of what has the focus. */
const focusedName = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');

const startWithTasks = (t: Parameters<typeof startApp>[0], count: number): Promise<TestApp> =>
  startApp(t, { seed: { tasks: Array.from({ length: count }, (_, index) => ({ Title: `task ${index + 1}` })) } });

const exists = async (app: TestApp, id: number): Promise<boolean> =>
  (await app.request('GET', `/api/tasks/${id}`)).status === 200;

for (const view of ['table', 'board']) {
  test(`on a ${view} that scrolls, the focus stays on its task, and Enter deletes that one`, { skip }, async (t) => {
    const app = await startWithTasks(t, 300);
    const { page, complaints } = await openConsole(t, browser, { app, hash: `#/tasks?view=${view}` });
    const remove = page.getByRole('button', { name: 'Delete task 299', exact: true });
    await remove.focus();
    for (const top of [3000, 9000, 200, 6000]) {
      await page.evaluate(`scrollTo(0, ${top})`);
      await page.waitForTimeout(200);
      assert.equal(await focusedName(page), 'Delete task 299', `${top}`);
    }
    await page.keyboard.press('Enter');
    await page.getByText('Deleted: task 299').waitFor();
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
    await waitUntil('task 299 is deleted', async () => !(await exists(app, 299)));
    assert.equal((await app.request('GET', '/api/tasks?limit=0')).json['total'], 299);
    assert.deepEqual(complaints, []);
  });
}

test('after a deletion the focus is on the row that took its place, and another Enter deletes nothing', {
  skip,
}, async (t) => {
  const app = await startWithTasks(t, 5);
  const { page } = await openConsole(t, browser, { app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'Delete task 4', exact: true }).press('Enter');
  await page.getByRole('button', { name: 'task 4', exact: true }).waitFor({ state: 'detached' });
  assert.equal(await focusedName(page), 'task 3');
  await page.keyboard.press('Enter');
  await page.getByLabel('Title of task 3').waitFor();
});

test('a card that is moved with the keyboard keeps the focus in its new column', { skip }, async (t) => {
  const app = await startWithTasks(t, 3);
  const { page } = await openConsole(t, browser, { app, hash: '#/tasks?view=board' });
  const status = page.getByLabel('Status of task 2');
  await status.focus();
  await status.selectOption('InProgress');
  await page
    .getByRole('region', { name: /^In progress/ })
    .getByText('task 2')
    .waitFor();
  assert.equal(await focusedName(page), 'Status of task 2');
});

test('undo brings a deleted task back as it was, under its own number', { skip }, async (t) => {
  const app = await startWithTasks(t, 2);
  const { page } = await openConsole(t, browser, { app, hash: '#/tasks' });
  const before = (await app.request('GET', '/api/tasks/1')).text;
  await page.getByRole('button', { name: 'Delete task 1', exact: true }).click();
  await page.getByRole('button', { name: 'task 1', exact: true }).waitFor({ state: 'detached' });
  await page.getByText('1 task', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'task 1', exact: true }).waitFor();
  await page.getByText('2 tasks', { exact: true }).waitFor();
  assert.equal((await app.request('GET', '/api/tasks/1')).text, before);
});

test('a deletion that could still be undone is completed when the page is left', { skip }, async (t) => {
  const app = await startWithTasks(t, 2);
  const { page } = await openConsole(t, browser, { app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'Delete task 1', exact: true }).click();
  await page.getByText('Deleted: task 1').waitFor();
  assert.ok(await exists(app, 1));
  await page.close();
  await waitUntil('it is deleted', async () => !(await exists(app, 1)));
});

test('a log-out completes a deletion too, and a task that cannot be deleted comes back', { skip }, async (t) => {
  const app = await startWithTasks(t, 3);
  const { page } = await openConsole(t, browser, { app, hash: '#/tasks' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Delete task 3', exact: true }).click();
  await page.getByText('Deleted: task 3').waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await waitUntil('it is deleted', async () => !(await exists(app, 3)));

  await page.route('**/api/tasks/2', (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 503, json: { error: 'The disk is full' } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Delete task 2', exact: true }).click();
  await page.getByRole('button', { name: 'task 2', exact: true }).waitFor({ state: 'detached' });
  await page.locator('.toast', { hasText: 'Deleted: task 2' }).getByRole('button', { name: 'Close' }).click();
  await page.getByRole('alert').getByText('Not deleted: task 2. The disk is full').waitFor();
  await page.getByRole('button', { name: 'task 2', exact: true }).waitFor();
});
