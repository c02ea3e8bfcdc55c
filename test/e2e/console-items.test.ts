import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, logIn, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const long = 'a <b>long</b> name '.repeat(600);

test('items are listed page by page, and the page is in the address', { skip }, async (t) => {
  const items = Array.from({ length: 130 }, (_, number) => ({
    id: number,
    name: number === 1 ? long : `item ${number}.`,
  }));
  const app = await startApp(t, { seed: { items } });
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/items' });
  await page.getByText('Log in to see this').waitFor();
  await logIn(page, 'reader');
  await page.getByText('1 to 100 of 130 items').waitFor();
  await page.getByText('item 0.').waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.getByRole('button', { name: 'a <b>long</b> name' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Name' });
  assert.ok((await dialog.textContent())?.includes(long));
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.waitForURL('**/#/items?page=2');
  await page.getByText('item 129.').waitFor();
  await page.getByText('101 to 130 of 130 items').waitFor();
  await page.goBack();
  await page.getByText('item 0.').waitFor();
  assert.deepEqual(complaints, []);
});

test('simple tasks are listed with their status, and filtered by title', { skip }, async (t) => {
  const app = await startApp(t);
  for (const title of ['Get milk', '<i>Bread</i>', long]) {
    await app.request('POST', '/simple/api/tasks', { body: { title } });
  }
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/simple-tasks' });
  const table = page.getByRole('table', { name: 'Simple tasks' });
  await table.getByText('<i>Bread</i>').waitFor();
  await table.getByRole('row').filter({ hasText: 'Get milk' }).getByText('Pending').waitFor();
  await table.getByRole('button', { name: 'a <b>long</b> name' }).waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.getByLabel('Title contains').fill('MILK');
  await page.waitForURL('**/#/simple-tasks?q=MILK');
  await table.getByText('<i>Bread</i>').waitFor({ state: 'detached' });
  await page.getByText(/^1 of \d+ tasks$/).waitFor();
  assert.deepEqual(complaints, []);
});

test('items and simple tasks that do not exist are said to be missing', { skip }, async (t) => {
  const settings = { profiles: ['login', 'items', 'simple-tasks'] };
  const { page, complaints } = await openConsole(t, browser, { settings, hash: '#/items' });
  await logIn(page, 'reader');
  await page.getByText('No items').waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Simple tasks' }).click();
  await page.getByRole('heading', { level: 1, name: 'Simple tasks' }).waitFor();
  await page.getByText('No simple tasks').waitFor();
  assert.deepEqual(complaints, []);
});
