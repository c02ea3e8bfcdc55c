import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { sendAlert } from '../support/alerts.ts';
import { passwords, startApp } from '../support/app.ts';
import { processName } from '../support/process-name.ts';
import { startReceiver } from '../support/receiver.ts';
import { openBrowser, toSkip } from './browser.ts';
import { openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** Presses Tab until the element has the focus. */
const tabTo = async (page: Page, target: Locator): Promise<void> => {
  await target.waitFor();
  for (let presses = 0; presses < 150; presses += 1) {
    if (
      await target.evaluate(
        (element) =>
          element === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement,
      )
    )
      return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach ${target}`);
};

const press = async (page: Page, target: Locator, key = 'Enter'): Promise<void> => {
  await tabTo(page, target);
  await page.keyboard.press(key);
};

const go = async (page: Page, key: string, name: string): Promise<void> => {
  await page.keyboard.press('g');
  await page.keyboard.press(key);
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
};

test('every task can be done with the keyboard alone', { skip }, async (t) => {
  const { url } = await startReceiver(
    t,
    (response, _, index) => void response.writeHead(index === 0 ? 400 : 200).end(),
  );
  const app = await startApp(t, { settings: { destinations: [{ name: 'pager', type: 'webhook', url }] } });
  await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk' });
  await sendAlert(app, { level: 'INFO', message: 'all is well', source: 'disk' });
  const { page, complaints } = await openConsole(t, browser, { app });
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const type = (text: string) => page.keyboard.type(text);

  await press(page, page.getByRole('banner').getByRole('button', { name: 'Log in' }));
  await tabTo(page, page.getByLabel('User name'));
  await type('admin');
  await page.keyboard.press('Tab');
  await type(passwords.admin);
  await page.keyboard.press('Enter');
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).waitFor();

  await go(page, 't', 'Tasks');
  await press(page, button('New task'));
  await page.getByRole('dialog', { name: 'New task' }).waitFor();
  await type('Check the backups');
  await page.keyboard.press('Enter');
  await press(page, button('Check the backups'));
  await page.getByLabel('Title of task 1').waitFor();
  await page.keyboard.press('End');
  await type(' twice');
  await page.keyboard.press('Enter');
  await button('Check the backups twice').waitFor();
  await tabTo(page, page.getByLabel('Priority of Check the backups twice'));
  await page.keyboard.press('ArrowDown');
  await press(page, button('Complete Check the backups twice'));
  await page.getByText('Completed: Check the backups twice').waitFor();
  await press(page, page.getByRole('link', { name: 'Open Check the backups twice' }));
  await tabTo(page, page.getByLabel('Description'));
  await type('Both of them.');
  await press(page, button('Save'));
  await page.getByText('Saved.').waitFor();
  const { json } = await app.request('GET', '/api/tasks/1');
  assert.deepEqual(
    [json['Title'], json['Priority'], json['Status'], json['Description']],
    ['Check the backups twice', 'High', 'Completed', 'Both of them.'],
  );
  await press(page, button('Delete Check the backups twice'));
  await page.getByText('No tasks yet').waitFor();
  await press(page, button('Undo').last());
  await button('Check the backups twice').waitFor();
  await press(page, button('Board'));
  await tabTo(page, page.getByLabel('Status of Check the backups twice'));
  await page.keyboard.press('ArrowDown');
  await page
    .getByRole('region', { name: /^Cancelled/ })
    .getByText('Check the backups twice')
    .waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type to search' }).waitFor();
  await type('alerts');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
  await press(page, button(/^Error/), 'Space');
  await page.waitForURL('**severity=ERROR');
  await page.getByRole('link', { name: 'all is well' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'sda1 is full' }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Alert' }).getByText('sda1 is full').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await tabTo(page, page.getByRole('listbox'));
  for (const key of ['End', 'ArrowLeft', 'Shift+ArrowRight', 'Enter']) await page.keyboard.press(key);
  await page.waitForURL('**since=**until=**');
  await button('Clear the time range').waitFor();
  await page.getByRole('link', { name: 'sda1 is full' }).waitFor();
  await page.keyboard.press('Escape');
  await button('Clear the time range').waitFor({ state: 'detached' });

  await go(page, 'c', 'Commands');
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await type(processName);
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('table', { name: 'Result' }).getByRole('link').first());
  await page.getByRole('dialog', { name: 'Row 1' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await go(page, 'd', 'Deliveries');
  await press(page, button(/^Retry: /).first());
  await page.getByText('Delivered.').waitFor();

  await go(page, 'p', 'Processes');
  await press(page, button(/^Pin /).first());
  await page.getByRole('region', { name: 'Pinned process' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await go(page, 'o', 'Overview');
  await press(page, page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }));
  await press(page, button('Log out'));
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).waitFor();
  assert.deepEqual(complaints, []);
});
