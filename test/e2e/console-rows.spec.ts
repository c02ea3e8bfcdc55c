import { expect, type Page } from '@playwright/test';
import type { Scope } from '../support/scope.ts';
import { waitUntil } from '../support/wait.ts';
import { serveApp, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { logIn } from './support/page.ts';

/** Reads the accessible name of the focused element. */
const focusedName = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');

const startWithTasks = (scope: Scope, count: number): Promise<TestApp> =>
  serveApp(scope, { seed: { tasks: Array.from({ length: count }, (_, index) => ({ Title: `task ${index + 1}` })) } });

const exists = async (app: TestApp, id: number): Promise<boolean> =>
  (await app.request('GET', `/api/tasks/${id}`)).status === 200;

for (const view of ['table', 'board']) {
  test(`on a ${view} that scrolls, the focus stays on its task, and Enter deletes this task`, async ({
    scope,
    openConsole,
  }) => {
    const app = await startWithTasks(scope, 300);
    const { page, complaints } = await openConsole({ app, hash: `#/tasks?view=${view}` });
    const remove = page.getByRole('button', { name: 'Delete task 299', exact: true });
    await remove.focus();
    for (const top of [3000, 9000, 200, 6000]) {
      const before = await page.getByRole('main').textContent();
      await page.evaluate(`scrollTo(0, ${top})`);
      await expect.poll(() => page.getByRole('main').textContent()).not.toBe(before);
      expect(await focusedName(page), `${top}`).toBe('Delete task 299');
    }
    await page.keyboard.press('Enter');
    await expect(page.getByText('Deleted: task 299')).toBeVisible();
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
    await waitUntil('task 299 is deleted', async () => !(await exists(app, 299)));
    expect((await app.request('GET', '/api/tasks?limit=0')).json['total']).toBe(299);
    expect(complaints).toEqual([]);
  });
}

test('after a deletion the focus moves to the next row, and another Enter deletes nothing', async ({
  scope,
  openConsole,
}) => {
  const app = await startWithTasks(scope, 5);
  const { page } = await openConsole({ app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'Delete task 4', exact: true }).press('Enter');
  await expect(page.getByRole('button', { name: 'task 4', exact: true })).toHaveCount(0);
  expect(await focusedName(page)).toBe('task 3');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Title of task 3')).toBeVisible();
});

test('a card that is moved with the keyboard keeps the focus in its new column', async ({ scope, openConsole }) => {
  const app = await startWithTasks(scope, 3);
  const { page } = await openConsole({ app, hash: '#/tasks?view=board' });
  const status = page.getByLabel('Status of task 2');
  await status.focus();
  await status.selectOption('InProgress');
  await expect(page.getByRole('region', { name: /^In progress/ }).getByText('task 2')).toBeVisible();
  expect(await focusedName(page)).toBe('Status of task 2');
});

test('undo restores a deleted task unchanged, with the same number', async ({ scope, openConsole }) => {
  const app = await startWithTasks(scope, 2);
  const { page } = await openConsole({ app, hash: '#/tasks' });
  const before = (await app.request('GET', '/api/tasks/1')).text;
  await page.getByRole('button', { name: 'Delete task 1', exact: true }).click();
  await expect(page.getByRole('button', { name: 'task 1', exact: true })).toHaveCount(0);
  await expect(page.getByText('1 task', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('button', { name: 'task 1', exact: true })).toBeVisible();
  await expect(page.getByText('2 tasks', { exact: true })).toBeVisible();
  expect((await app.request('GET', '/api/tasks/1')).text).toBe(before);
});

test('leaving the page completes a deletion that could still be undone', async ({ scope, openConsole }) => {
  const app = await startWithTasks(scope, 2);
  const { page } = await openConsole({ app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'Delete task 1', exact: true }).click();
  await expect(page.getByText('Deleted: task 1')).toBeVisible();
  expect(await exists(app, 1)).toBeTruthy();
  await page.close();
  await waitUntil('the task is deleted', async () => !(await exists(app, 1)));
});

test('logging out completes a deletion, and a task that cannot be deleted reappears', async ({
  scope,
  openConsole,
}) => {
  const app = await startWithTasks(scope, 3);
  const { page } = await openConsole({ app, hash: '#/tasks' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Delete task 3', exact: true }).click();
  await expect(page.getByText('Deleted: task 3')).toBeVisible();
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await waitUntil('the task is deleted', async () => !(await exists(app, 3)));

  await page.route('**/api/tasks/2', (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 503, json: { error: 'The disk is full' } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Delete task 2', exact: true }).click();
  await expect(page.getByRole('button', { name: 'task 2', exact: true })).toHaveCount(0);
  await page.locator('.toast', { hasText: 'Deleted: task 2' }).getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('alert').getByText('Not deleted: task 2. The disk is full')).toBeVisible();
  await expect(page.getByRole('button', { name: 'task 2', exact: true })).toBeVisible();
});
