import { expect, type Page } from '@playwright/test';
import type { Scope } from '../support/scope.ts';
import { serveApp, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults } from './support/page.ts';

const startWithTask = async (scope: Scope): Promise<TestApp> => {
  const app = await serveApp(scope);
  await app.request('POST', '/api/tasks', { body: { Title: 'first', Description: 'long ago' } });
  return app;
};

const read = async (app: TestApp) => (await app.request('GET', '/api/tasks/1')).json;
const change = (app: TestApp, body: object) => app.request('PUT', '/api/tasks/1', { body });

const conflict = (page: Page) => page.getByRole('dialog', { name: 'Task 1 was changed by somebody else' });
const row = (page: Page, name: string) => conflict(page).getByRole('row', { name: new RegExp(`^${name}`) });

test('if two tabs edit a task, the second tab shows both versions to choose from', async ({ scope, openConsole }) => {
  const app = await startWithTask(scope);
  const first = await openConsole({ app, hash: '#/tasks/1' });
  const second = await openConsole({ app, hash: '#/tasks/1' });
  for (const { page } of [first, second]) await expect(page.getByLabel('Title', { exact: true })).toBeVisible();
  await second.page.getByLabel('Title', { exact: true }).fill('mine');
  await second.page.getByLabel('Priority', { exact: true }).selectOption('High');
  await first.page.getByLabel('Title', { exact: true }).fill('theirs');
  await first.page.getByLabel('Status', { exact: true }).selectOption('InProgress');
  await first.page.getByRole('button', { name: 'Save' }).click();
  await expect(first.page.getByText('Saved.')).toBeVisible();

  const { page } = second;
  // Fields that the user has not changed follow the server.
  const status = page.getByLabel('Status', { exact: true });
  await status.locator('option:checked', { hasText: 'In progress' }).waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(conflict(page)).toBeVisible();
  for (const [name, mine, theirs] of [
    ['Title', 'mineChanged', 'theirsChanged'],
    ['Description', 'long ago', 'long ago'],
    ['Priority', 'HighChanged', 'Medium'],
    ['Status', 'In progress', 'In progress'],
  ] as const) {
    expect(await row(page, name).getByRole('cell').allTextContents()).toEqual([mine, theirs]);
  }
  expect(await findFaults(page)).toEqual([]);

  await page.keyboard.press('Escape');
  await expect(conflict(page)).toHaveCount(0);
  const title = page.getByLabel('Title', { exact: true });
  expect([await title.inputValue(), (await read(app))['Title']]).toEqual(['mine', 'theirs']);
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await conflict(page).getByRole('button', { name: 'Keep my version' }).press('Enter');
  await expect(page.getByText('Saved.')).toBeVisible();
  const { Title, Priority, Status } = await read(app);
  expect([Title, Priority, Status]).toEqual(['mine', 'High', 'InProgress']);

  await page.goto('/console/#/tasks/1');
  await title.fill('mine again');
  await change(app, { Title: 'theirs again' });
  await page.getByRole('button', { name: 'Save' }).click();
  await conflict(page).getByRole('button', { name: 'Use the other version' }).press('Enter');
  await expect(page.getByText('Kept the other version.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'theirs again', exact: true })).toBeVisible();
  expect((await read(app))['Title']).toBe('theirs again');
  expect([...first.complaints, ...second.complaints]).toEqual([]);
});

test('a conflict over a title edited in place is resolved with the keyboard alone', async ({ scope, openConsole }) => {
  const app = await startWithTask(scope);
  const { page, complaints } = await openConsole({ app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'first', exact: true }).press('Enter');
  await page.getByLabel('Title of task 1').fill('mine');
  await change(app, { Title: 'theirs', Priority: 'Low' });
  await page.keyboard.press('Enter');
  await expect(conflict(page)).toBeVisible();
  await page.keyboard.press('Escape');
  const input = page.getByLabel('Title of task 1');
  await expect(input).toHaveValue('mine');
  await input.press('Enter');
  await expect(conflict(page)).toBeVisible();
  await page.getByRole('button', { name: 'Close' }).press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'mine', exact: true })).toBeVisible();
  const { Title, Priority } = await read(app);
  expect([Title, Priority]).toEqual(['mine', 'Low']);
  expect(complaints).toEqual([]);
});

test('changes to different fields are merged without a question', async ({ scope, openConsole }) => {
  const app = await startWithTask(scope);
  const { page } = await openConsole({ app, hash: '#/tasks/1' });
  await page.getByLabel('Title', { exact: true }).fill('mine');
  await change(app, { Description: 'theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  const { Title, Description } = await read(app);
  expect([Title, Description]).toEqual(['mine', 'theirs']);
});

test('a change between reading and writing is not overwritten', async ({ scope, openConsole }) => {
  const app = await startWithTask(scope);
  const { page } = await openConsole({ app, hash: '#/tasks/1' });
  let isChanged = false;
  await page.route('**/api/tasks/1', async (route) => {
    if (route.request().method() === 'PUT' && !isChanged) {
      isChanged = true;
      await change(app, { Title: 'theirs', Status: 'InProgress' });
    }
    await route.continue();
  });
  await page.getByLabel('Title', { exact: true }).fill('mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(conflict(page)).toBeVisible();
  const cells = await row(page, 'Status').getByRole('cell').allTextContents();
  expect(cells).toEqual(['In progress', 'In progressChanged']);
  expect((await read(app))['Title']).toBe('theirs');
  await conflict(page).getByRole('button', { name: 'Keep my version' }).press('Enter');
  await expect(page.getByText('Saved.')).toBeVisible();
  expect((await read(app))['Title']).toBe('mine');
});

test('a task that somebody else has changed is deleted only after confirmation', async ({ scope, openConsole }) => {
  const app = await startWithTask(scope);
  const { page } = await openConsole({ app, hash: '#/tasks' });
  const remove = page.getByRole('button', { name: /^Delete / });
  const changeFirst = (title: string) =>
    page.route(
      '**/api/tasks/1',
      async (route) => {
        await change(app, { Title: title });
        await route.continue();
      },
      { times: 1 },
    );
  await expect(remove).toBeVisible();
  await changeFirst('second');
  await remove.click();
  await expect(conflict(page).getByText('The task was changed before you deleted it.')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await conflict(page).getByRole('button', { name: 'Use the other version' }).press('Enter');
  await expect(page.getByRole('button', { name: 'second', exact: true })).toBeVisible();
  await changeFirst('third');
  await remove.click();
  await conflict(page).getByRole('button', { name: 'Keep my version' }).press('Enter');
  await expect(page.getByText('No tasks yet')).toBeVisible();
});

test('a new task whose response was lost is created only once by a retry', async ({ openConsole }) => {
  const { page, app } = await openConsole({ hash: '#/tasks/new' });
  await page.route(
    '**/api/tasks',
    async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await page.getByLabel('Title', { exact: true }).fill('only once');
  const button = page.getByRole('button', { name: 'Create', exact: true });
  await button.press('Enter');
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  await button.press('Enter');
  await expect(page.getByRole('status').getByText('Created task 1.')).toBeVisible();
  await page.goto('/console/#/tasks/new');
  await page.getByLabel('Title', { exact: true }).fill('only once');
  await button.press('Enter');
  await expect(page.getByRole('status').getByText('Created task 2.')).toBeVisible();
  expect((await app.request('GET', '/api/tasks')).json['total']).toBe(2);
});

test('a task that conflicts every time is retried a few times, then the user sees an error', async ({
  scope,
  openConsole,
}) => {
  const app = await startWithTask(scope);
  const { page } = await openConsole({ app, hash: '#/tasks/1' });
  let attempts = 0;
  await page.route('**/api/tasks/1', (route) => {
    if (route.request().method() === 'GET') return route.continue();
    attempts += 1;
    return route.continue({ headers: { ...route.request().headers(), 'if-match': '"999"' } });
  });
  await page.getByLabel('Title', { exact: true }).fill('mine');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('The task changed during each attempt to save.')).toBeVisible();
  expect(attempts).toBe(4);
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('mine');
  expect((await read(app))['Title']).toBe('first');
});
