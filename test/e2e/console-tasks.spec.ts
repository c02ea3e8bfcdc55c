import { expect } from '@playwright/test';
import { waitUntil } from '../support/wait.ts';
import type { TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults } from './support/page.ts';

const add = async (app: TestApp, fields: Record<string, string>): Promise<number> => {
  const { json } = await app.request('POST', '/api/tasks', { body: fields });
  return json['Id'] as number;
};

const read = async (app: TestApp, id: number) => (await app.request('GET', `/api/tasks/${id}`)).json;

test('a task is created, edited in place, completed, and deleted with undo', async ({ openConsole }) => {
  const { page, app, complaints } = await openConsole({ hash: '#/tasks' });
  await expect(page.getByRole('heading', { name: 'Tasks' })).toBeVisible();
  await expect(page.getByText('No tasks yet')).toBeVisible();
  await page.getByRole('button', { name: 'New task' }).press('Enter');
  await page.getByLabel('Title', { exact: true }).fill('Check the backups');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('status').getByText('Created task 1.')).toBeVisible();
  await page.waitForURL('**/#/tasks');

  await page.getByRole('button', { name: 'Check the backups', exact: true }).press('Enter');
  await page.getByLabel('Title of task 1').fill('never stored');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Check the backups', exact: true }).press('Enter');
  await page.getByLabel('Title of task 1').fill('Check all backups');
  await page.keyboard.press('Enter');
  const title = page.getByRole('button', { name: 'Check all backups', exact: true });
  await expect(title).toBeVisible();
  // The title is shown before it is stored.
  await waitUntil('the title is stored', async () => (await read(app, 1))['Title'] === 'Check all backups');
  await page.getByLabel('Priority of Check all backups').selectOption('High');
  await page.getByRole('button', { name: 'Complete Check all backups' }).press('Enter');
  await expect(page.getByText('Completed: Check all backups')).toBeVisible();
  const stored = await read(app, 1);
  expect([stored['Title'], stored['Priority'], stored['Status']]).toEqual(['Check all backups', 'High', 'Completed']);
  expect(await findFaults(page)).toEqual([]);

  await page.getByRole('button', { name: 'Delete Check all backups' }).press('Enter');
  await expect(title).toHaveCount(0);
  await expect(page.getByText('Deleted: Check all backups')).toBeVisible();
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).last().press('Enter');
  await expect(title).toBeVisible();
  expect((await read(app, 1))['Status']).toBe('Completed');
  expect(complaints).toEqual([]);
});

test('a refused task keeps its input and shows the reason', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/tasks/new' });
  const title = page.getByLabel('Title', { exact: true });
  await title.fill('t'.repeat(201));
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page.getByText('Title must not exceed 200 characters')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.waitForURL('**/#/tasks');
  await page.goBack();
  await expect(title).toHaveValue('t'.repeat(201));
});

test('tasks can be filtered by status, priority and title, and the address contains the filters', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  await add(app, { Title: 'first', Priority: 'High' });
  await add(app, { Title: 'second', Priority: 'High' });
  await add(app, { Title: 'third' });
  const { page, complaints } = await openConsole({ app, hash: '#/tasks' });
  const row = (name: string) => page.getByRole('button', { name, exact: true });
  await expect(row('third')).toBeVisible();
  await page.getByRole('button', { name: /^High/ }).click();
  await page.waitForURL('**/#/tasks?priority=High');
  await expect(row('third')).toHaveCount(0);
  await page.getByLabel('Title contains').fill('SEC');
  await page.waitForURL('**/#/tasks?priority=High&q=SEC');
  await expect(row('first')).toHaveCount(0);
  await page.reload();
  await expect(row('second')).toBeVisible();
  await expect(row('first')).toHaveCount(0);
  await page.getByRole('button', { name: /^Completed/ }).click();
  await expect(page.getByText('No matching tasks')).toBeVisible();
  await page.goBack();
  await expect(row('second')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(row('third')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('the board has four columns, and cards can be moved by dragging and with the keyboard', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  await add(app, { Title: 'by mouse' });
  await add(app, { Title: 'by keyboard', Priority: 'Critical' });
  const { page, complaints } = await openConsole({ app, hash: '#/tasks?view=board' });
  const column = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}`) });
  for (const name of ['Pending', 'In progress', 'Completed', 'Cancelled']) await expect(column(name)).toBeVisible();
  await expect(column('Pending').getByText('by mouse')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('listitem').filter({ hasText: 'by mouse' }).dragTo(column('In progress'));
  await expect(column('In progress').getByText('by mouse')).toBeVisible();
  await page.getByLabel('Status of by keyboard').selectOption('Cancelled');
  await expect(column('Cancelled').getByText('by keyboard')).toBeVisible();
  await page.reload();
  await expect(column('In progress').getByText('by mouse')).toBeVisible();
  expect((await read(app, 1))['Status']).toBe('InProgress');
  expect(complaints).toEqual([]);
});

test('a card shows up to two lines of its title, and the full title to screen readers and on hover', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const long = 'Find out whether the queue is flushed before the connection is closed, '.repeat(3).trim().slice(0, 190);
  const titles = ['short', 'a title that is too long for one line of a column', long, 'x'.repeat(200), 'last'];
  for (const Title of titles) await add(app, { Title });
  const { page, complaints } = await openConsole({ app, hash: '#/tasks?view=board' });
  const measure = async (title: string) => {
    const button = page.getByRole('button', { name: title, exact: true });
    const box = await page.getByRole('listitem').filter({ has: button }).boundingBox();
    const text = await button.boundingBox();
    if (!box || !text) throw new Error(`${title} is not shown`);
    return { top: box.y, bottom: box.y + box.height, height: text.height, tip: await button.getAttribute('title') };
  };
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 900 });
    await expect(page.getByText('short', { exact: true })).toBeVisible();
    let cards: Awaited<ReturnType<typeof measure>>[] = [];
    await expect(async () => {
      cards = await Promise.all(titles.map(measure));
      expect(cards.map(({ height }) => Math.round(height / 20))).toEqual([1, 2, 2, 2, 1]);
    }).toPass();
    expect(cards[2]?.tip).toBe(long);
    // The newest task is at the top.
    for (const [index, { bottom }] of cards.entries()) {
      const below = cards[index - 1];
      if (below) expect(below.top > bottom && below.top - bottom < 12, `${width}: ${bottom} ${below.top}`).toBeTruthy();
    }
  }
  await expect(page.getByLabel('Priority of short')).toHaveCount(0);
  await page.getByRole('button', { name: long, exact: true }).press('Enter');
  const field = page.getByLabel('Title of task 3');
  await field.fill('typed\non two lines');
  await field.press('Enter');
  await expect(page.getByRole('button', { name: 'typed on two lines', exact: true })).toBeVisible();
  await waitUntil('the title is stored', async () => (await read(app, 3))['Title'] === 'typed on two lines');
  expect(complaints).toEqual([]);
});

test('in a narrow window the filters are behind a button that shows the number of active filters', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  await add(app, { Title: 'first', Priority: 'High' });
  await add(app, { Title: 'second' });
  const viewport = { width: 360, height: 800 };
  const { page, complaints } = await openConsole({ app, viewport, hash: '#/tasks' });
  const row = (name: string) => page.getByRole('button', { name, exact: true });
  await expect(row('second')).toBeVisible();
  const { y = 800 } = (await page.getByRole('table', { name: 'Tasks' }).boundingBox()) ?? {};
  expect(y, `the table begins at ${y} px`).toBeLessThan(300);
  await page.getByText('More filters', { exact: true }).click();
  await page.getByRole('button', { name: /^High/ }).click();
  await expect(row('second')).toHaveCount(0);
  await expect(page.getByText('More filters (1 on)')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.setViewportSize(viewport);
  await page.getByText('More filters (1 on)').click();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(row('second')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('every priority and status in the list is fully readable on a phone', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await add(app, { Title: 'first' });
  const { page } = await openConsole({ app, viewport: { width: 360, height: 740 }, hash: '#/tasks' });
  for (const name of ['Priority of first', 'Status of first']) {
    const choice = page.getByLabel(name);
    const { width = 0 } = (await choice.boundingBox()) ?? {};
    // Otherwise, the field would be as wide as its longest option.
    await choice.evaluate((element: { style: { cssText: string } }) => {
      element.style.cssText = 'width: max-content; flex: none';
    });
    const { width: needed = Number.POSITIVE_INFINITY } = (await choice.boundingBox()) ?? {};
    expect(width, name).toBeGreaterThanOrEqual(needed);
  }
});

test("other users' changes appear, and hostile titles are shown as text", async ({ openConsole }) => {
  const title = `<img src=x onerror="document.title=1">\u202e${'long'.repeat(30)}`;
  const { page, app, complaints } = await openConsole({ hash: '#/tasks' });
  await expect(page.getByText('No tasks yet')).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const id = await add(app, { Title: title });
  await expect(page.getByRole('button', { name: title, exact: true })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Tasks' }).locator('img')).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('link', { name: /^Open <img/ }).press('Enter');
  await page.waitForURL(`**/#/tasks/${id}`);
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue(title);
  expect(await findFaults(page)).toEqual([]);
  await page.getByLabel('Title', { exact: true }).fill('tame');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'tame', exact: true })).toBeVisible();
  await app.request('DELETE', `/api/tasks/${id}`);
  await expect(page.getByText('No tasks yet')).toBeVisible();
  expect(complaints).toEqual([]);
  await page.goto('/console/#/tasks/99');
  await expect(page.getByText('Task not found')).toBeVisible();
});

test('a double click deletes or completes only one task', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  for (const Title of ['first', 'second', 'third', 'fourth']) await add(app, { Title });
  const { page } = await openConsole({ app, hash: '#/tasks?status=Pending' });
  await page.getByRole('button', { name: 'Delete third' }).dblclick({ delay: 60 });
  await expect(page.getByText('Deleted: third')).toBeVisible();
  await page.getByRole('button', { name: 'Complete second' }).dblclick({ delay: 60 });
  await expect(page.getByText('Completed: second')).toBeVisible();
  const list = async () => {
    const { json } = await app.request('GET', '/api/tasks');
    const left = json['data'] as { Title: string; Status: string }[];
    return left.map(({ Title, Status }) => `${Title} ${Status}`).join();
  };
  await page.locator('.toast', { hasText: 'Deleted' }).getByRole('button', { name: 'Close' }).click();
  const expected = 'first Pending,second Completed,fourth Pending';
  await waitUntil('one task is deleted and one completed', async () => (await list()) === expected);
});

test('a task that is deleted by somebody else during editing can be saved as a new task', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  for (const Title of ['in its place', 'in its form']) await add(app, { Title });
  const { page, complaints } = await openConsole({ app, hash: '#/tasks' });
  await page.getByRole('button', { name: 'in its place', exact: true }).click();
  await page.getByLabel('Title of task 1').fill('typed in its place');
  await app.request('DELETE', '/api/tasks/1');
  await expect(page.getByText('Deleted by somebody else: typed in its place')).toBeVisible();
  await page.getByRole('alert').getByRole('button', { name: 'Save as a new task' }).click();
  await expect(page.getByText('Restored as task 3.')).toBeVisible();

  await page.getByRole('link', { name: 'Open in its form' }).click();
  await page.getByLabel('Title', { exact: true }).fill('typed in its form');
  await app.request('DELETE', '/api/tasks/2');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('Somebody else has deleted this task.')).toBeVisible();
  await dialog.getByRole('button', { name: 'Save as a new task' }).click();
  await expect(page.getByText('Restored as task 4.')).toBeVisible();
  await expect(dialog).toHaveCount(0);
  expect([(await read(app, 3))['Title'], (await read(app, 4))['Title']]).toEqual([
    'typed in its place',
    'typed in its form',
  ]);
  expect(complaints).toEqual([]);
});
