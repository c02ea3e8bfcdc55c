import { expect, type Locator, type Page } from '@playwright/test';
import { passwords } from '../support/credentials.ts';
import { processName } from '../support/process-name.ts';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { refuseOnce, startPager } from './support/pager.ts';

/** Presses Tab until the element has the focus. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  // Looked up only once, because searching after each key would take longer than pressing the key.
  const found = await target.elementHandle();
  for (let presses = 0; presses < 150; presses += 1) {
    if (await found?.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}`);
};

const press = async (page: Page, target: Locator, key = 'Enter'): Promise<void> => {
  await tabTo(page, target);
  await page.keyboard.press(key);
};

const go = async (page: Page, key: string, name: string): Promise<void> => {
  await page.keyboard.press('g');
  await page.keyboard.press(key);
  await expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeVisible();
};

test('every action is possible with the keyboard alone', async ({ scope, serveApp, openConsole }) => {
  const app = await serveApp({ settings: await startPager(scope, refuseOnce) });
  await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk' });
  await sendAlert(app, { level: 'INFO', message: 'all is well', source: 'disk' });
  const { page, complaints } = await openConsole({ app });
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const type = (text: string) => page.keyboard.type(text);

  await press(page, page.getByRole('banner').getByRole('button', { name: 'Log in' }));
  await tabTo(page, page.getByLabel('User name'));
  await type('admin');
  await page.keyboard.press('Tab');
  await type(passwords.admin);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('banner').getByRole('button', { name: 'admin, Admin' })).toBeVisible();

  await go(page, 't', 'Tasks');
  await press(page, button('New task'));
  await expect(page.getByRole('dialog', { name: 'New task' })).toBeVisible();
  await type('Check the backups');
  await page.keyboard.press('Enter');
  await press(page, button('Check the backups'));
  await expect(page.getByLabel('Title of task 1')).toBeVisible();
  await page.keyboard.press('End');
  await type(' twice');
  await page.keyboard.press('Enter');
  await expect(button('Check the backups twice')).toBeVisible();
  await tabTo(page, page.getByLabel('Priority of Check the backups twice'));
  await page.keyboard.press('ArrowDown');
  await press(page, button('Complete Check the backups twice'));
  await expect(page.getByText('Completed: Check the backups twice')).toBeVisible();
  await press(page, page.getByRole('link', { name: 'Open Check the backups twice' }));
  await tabTo(page, page.getByLabel('Description'));
  await type('Both of them.');
  await press(page, button('Save'));
  await expect(page.getByText('Saved.')).toBeVisible();
  const { json } = await app.request('GET', '/api/tasks/1');
  expect([json['Title'], json['Priority'], json['Status'], json['Description']]).toEqual([
    'Check the backups twice',
    'High',
    'Completed',
    'Both of them.',
  ]);
  await press(page, button('Delete Check the backups twice'));
  await expect(page.getByText('No tasks yet')).toBeVisible();
  await press(page, button('Undo').last());
  await expect(button('Check the backups twice')).toBeVisible();
  await press(page, button('Board'));
  await tabTo(page, page.getByLabel('Status of Check the backups twice'));
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('region', { name: /^Cancelled/ }).getByText('Check the backups twice')).toBeVisible();

  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Type to search' })).toBeVisible();
  await type('alerts');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Alerts' })).toBeVisible();
  await press(page, button(/^Error/), 'Space');
  await page.waitForURL('**severity=ERROR');
  await expect(page.getByRole('link', { name: 'all is well' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'sda1 is full' })).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Alert' }).getByText('sda1 is full').first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await tabTo(page, page.getByRole('listbox'));
  for (const key of ['End', 'ArrowLeft', 'Shift+ArrowRight', 'Enter']) await page.keyboard.press(key);
  await page.waitForURL('**since=**until=**');
  await expect(button('Clear the time range')).toBeVisible();
  await expect(page.getByRole('link', { name: 'sda1 is full' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(button('Clear the time range')).toHaveCount(0);

  await go(page, 'c', 'Commands');
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await type(processName);
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('table', { name: 'Result' }).getByRole('link').first());
  await expect(page.getByRole('dialog', { name: 'Row 1' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await go(page, 'd', 'Notifications');
  await press(page, button(/^Retry: /).first());
  await expect(page.getByText('Delivered.')).toBeVisible();

  await go(page, 'q', 'Silences');
  await press(page, button('New silence').first());
  await tabTo(page, page.getByLabel('Source'));
  await type('backup');
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('link', { name: 'source backup' }));
  await press(page, button('End now'));
  await expect(page.getByText('The silence has ended.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);

  await go(page, 'p', 'Processes');
  await press(page, button(/^Pin /).first());
  await expect(page.getByRole('region', { name: 'Pinned process' })).toBeVisible();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');
  await go(page, 'o', 'Overview');
  await press(page, page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }));
  await press(page, button('Log out'));
  await expect(page.getByRole('banner').getByRole('button', { name: 'Log in' })).toBeVisible();
  expect(complaints).toEqual([]);
});
