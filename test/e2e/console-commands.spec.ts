import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { processName } from '../support/process-name.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

const line = (page: Page) => page.getByLabel('Command line', { exact: true });

/** Responds to every command with the given rows. */
const fake = (page: Page, result: object[], more: object = {}) =>
  page.route('**/api/execute', (route) =>
    route.fulfill({ json: { success: true, command: 'Get-Process', result, ...more } }),
  );

test('a form writes a command line, runs it, and shows the resulting rows, filtered and sorted', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ hash: '#/commands' });
  await expect(page.getByText('Log in to see this content')).toBeVisible();
  await logIn(page, 'admin');
  await expect(page.getByRole('heading', { name: 'Commands' })).toBeVisible();
  expect(await line(page).textContent()).toBe('Get-Process');
  await page.getByLabel('Name', { exact: true }).fill('*, with space*');
  await page.waitForURL(/Name=/);
  expect(await line(page).textContent()).toBe("Get-Process -Name *,'with space*'");
  expect(await page.getByLabel('Id', { exact: true }).isDisabled()).toBeTruthy();
  await page.getByLabel('Name', { exact: true }).press('Enter');
  const table = page.getByRole('table', { name: 'Result' });
  await expect(table.getByRole('link').nth(3)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByLabel('Any value contains').fill('nowhere');
  await expect(page.getByText('No matching rows.')).toBeVisible();
  await page.getByLabel('Any value contains').press('Escape');
  await table.getByRole('link').first().press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Row/ });
  await expect(dialog.getByText('ProcessName').first()).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('a form follows its address and the chosen class', async ({ openConsole }) => {
  const hash = '#/commands/Get-CimInstance?ClassName=Win32_LogicalDisk';
  const { page, complaints } = await openConsole({ hash });
  await logIn(page, 'admin');
  await page.getByRole('group', { name: 'Property' }).getByRole('button', { name: 'FreeSpace' }).press('Enter');
  await page.getByRole('group', { name: 'Property' }).getByRole('button', { name: 'DeviceID' }).press('Enter');
  expect(await line(page).textContent()).toBe(
    'Get-CimInstance -ClassName Win32_LogicalDisk -Property DeviceID,FreeSpace',
  );
  expect(await findFaults(page)).toEqual([]);
  await page.getByLabel('Command', { exact: true }).selectOption('Get-EventLog');
  await page.waitForURL('**/#/commands/Get-EventLog');
  await page.getByLabel('LogName').selectOption('System');
  await page.getByLabel('After').fill('2026-01-31T09:30');
  await page.getByLabel('Newest').fill('5');
  const written = 'Get-EventLog -LogName System -Newest 5 -After 2026-01-31T09:30';
  expect(await line(page).textContent()).toBe(written);
  await page.waitForURL(/Newest=5/);
  await page.reload();
  await logIn(page, 'admin');
  expect(await line(page).textContent()).toBe(written);
  expect(complaints).toEqual([]);
});

test('a refused command shows the reason, stays in the history, and can be edited', async ({ openConsole }) => {
  const hash = '#/commands/Get-CimInstance?ClassName=Win32_Process&Filter=nonsense';
  const { page, complaints } = await openConsole({ hash });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const alert = page.getByRole('alert');
  await expect(alert.getByText('Refused')).toBeVisible();
  await expect(alert.getByText('nonsense')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByLabel('Filter', { exact: true }).fill(`Name = '${processName}'`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText(/rows in/)).toBeVisible();
  const history = page.getByRole('region', { name: 'History of this session' });
  await expect(history.getByRole('listitem')).toHaveCount(2);
  await history.getByRole('link').last().press('Enter');
  await page.waitForURL(/Filter=nonsense/);
  await line(page).getByText('nonsense').waitFor();
  await expect(page.getByLabel('Filter', { exact: true })).toHaveValue('nonsense');
  await history.getByRole('button', { name: /^Run again: .*nonsense/ }).press('Enter');
  await expect(history.getByRole('listitem').nth(2)).toBeVisible();
  expect(complaints.filter((text) => !text.includes('403'))).toEqual([]);
});

test('navigating right after typing does not lose the new address', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/commands/Get-Process?Name=first' });
  await logIn(page, 'admin');
  await page.getByLabel('Name', { exact: true }).fill('typed');
  // The page is busy for longer than it takes to write typed text to the address.
  await page.evaluate(`(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    location.hash = '#/commands/Get-Process?Name=chosen';
    dispatchEvent(new HashChangeEvent('hashchange'));
    for (const end = performance.now() + 500; performance.now() < end; );
  })()`);
  await line(page).getByText('chosen').waitFor();
  await expect(page).toHaveURL(/Name=chosen$/);
});

test('a Reader sees the forms without a run button, and that running needs the role Admin', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/commands' });
  await logIn(page, 'reader');
  await expect(page.getByText('Only users with the role Admin can run commands.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy command line' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run', exact: true })).toHaveCount(0);
});

test('CSV and JSON contain the filtered rows, and cells that look like formulas are quoted', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ hash: '#/commands' });
  await logIn(page, 'admin');
  const rows = ['=1+1', '+1', '-1', '@sum', 'a,b', 'say "x"', '<img src=x onerror="document.title=1">'];
  await fake(page, [...rows.map((Name) => ({ Name, Id: -5 })), { Name: 'left out', Id: 7, Other: { deep: [1] } }]);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('link', { name: '<img src=x' })).toBeVisible();
  await page.getByLabel('Any value contains').fill('-5');
  await expect(page.getByRole('link', { name: 'left out' })).toHaveCount(0);
  const [csv] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  expect(csv.suggestedFilename()).toBe('result.csv');
  const expected = [
    "'=1+1",
    "'+1",
    "'-1",
    "'@sum",
    '"a,b"',
    '"say ""x"""',
    '"<img src=x onerror=""document.title=1"">"',
  ];
  expect(readFileSync(await csv.path(), 'utf8').split('\r\n')).toEqual([
    'Name,Id,Other',
    ...expected.map((name) => `${name},-5,`),
    '',
  ]);
  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  await page.waitForURL(/as=json/);
  expect(JSON.parse((await page.locator('pre').textContent()) ?? '').map(({ Name }: { Name: string }) => Name)).toEqual(
    rows,
  );
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a long result with long values scrolls, and a truncated result says so', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ hash: '#/commands' });
  await logIn(page, 'admin');
  const names = Array.from({ length: 14 }, (_, index) => `Column${index}`);
  const toText = (row: number, name: string) => `${row} ${'word'.repeat(row < 100 && name === 'Column3' ? 2500 : 2)}`;
  const rows = Array.from({ length: 5000 }, (_, row) =>
    Object.fromEntries(names.map((name) => [name, toText(row, name)])),
  );
  await fake(page, rows, { truncated: true });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText('The server truncated this result')).toBeVisible();
  expect(await page.getByRole('row').count()).toBeLessThan(150);
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('link', { name: /^0 word/ }).click();
  await page.getByRole('button', { name: 'Show all' }).click();
  expect((await page.getByRole('dialog').textContent())?.includes('word'.repeat(2500))).toBeTruthy();
  expect(complaints).toEqual([]);
});
