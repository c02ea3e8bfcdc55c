import { expect } from '@playwright/test';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const long = 'a <b>long</b> name '.repeat(600);

test('items are listed in pages, and the address contains the page', async ({ serveApp, openConsole }) => {
  const items = Array.from({ length: 130 }, (_, number) => ({
    id: number,
    name: number === 1 ? long : `item ${number}.`,
  }));
  const app = await serveApp({ seed: { items } });
  const { page, complaints } = await openConsole({ app, hash: '#/items' });
  await expect(page.getByText('Log in to see this content')).toBeVisible();
  await logIn(page, 'reader');
  await expect(page.getByText('1 to 100 of 130 items')).toBeVisible();
  await expect(page.getByText('item 0.')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'a <b>long</b> name' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Name' });
  expect((await dialog.textContent())?.includes(long)).toBeTruthy();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.waitForURL('**/#/items?page=2');
  await expect(page.getByText('item 129.')).toBeVisible();
  await expect(page.getByText('101 to 130 of 130 items')).toBeVisible();
  await page.goBack();
  await expect(page.getByText('item 0.')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('simple tasks are listed with their status, and can be filtered by title', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  for (const title of ['Get milk', '<i>Bread</i>', long]) {
    await app.request('POST', '/simple/api/tasks', { body: { title } });
  }
  const { page, complaints } = await openConsole({ app, hash: '#/simple-tasks' });
  const table = page.getByRole('table', { name: 'Simple tasks' });
  await expect(table.getByText('<i>Bread</i>')).toBeVisible();
  await expect(table.getByRole('row').filter({ hasText: 'Get milk' }).getByText('Pending')).toBeVisible();
  await expect(table.getByRole('button', { name: 'a <b>long</b> name' })).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByLabel('Title contains').fill('MILK');
  await page.waitForURL('**/#/simple-tasks?q=MILK');
  await expect(table.getByText('<i>Bread</i>')).toHaveCount(0);
  await expect(page.getByText(/^1 of \d+ tasks$/)).toBeVisible();
  expect(complaints).toEqual([]);
});

test('missing items and simple tasks are reported as missing', async ({ openConsole }) => {
  const settings = { profiles: ['login', 'items', 'simple-tasks'] };
  const { page, complaints } = await openConsole({ settings, hash: '#/items' });
  await logIn(page, 'reader');
  await expect(page.getByText('No items')).toBeVisible();
  await page.goto('/console/#/simple-tasks');
  await expect(page.getByRole('heading', { level: 1, name: 'Simple tasks' })).toBeVisible();
  await expect(page.getByText('No simple tasks')).toBeVisible();
  expect(complaints).toEqual([]);
});
