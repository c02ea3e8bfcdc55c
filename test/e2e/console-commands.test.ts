import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { processName } from '../support/process-name.ts';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, logIn, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const line = (page: Page) => page.getByLabel('Command line', { exact: true });

/** Answers every command with these rows. */
const fake = (page: Page, result: object[], more: object = {}) =>
  page.route('**/api/execute', (route) =>
    route.fulfill({ json: { success: true, command: 'Get-Process', result, ...more } }),
  );

test('a form writes the command line, runs it, and shows its rows, filtered and sorted', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { hash: '#/commands' });
  await page.getByText('Log in to see this').waitFor();
  await logIn(page, 'admin');
  await page.getByRole('heading', { name: 'Commands' }).waitFor();
  assert.equal(await line(page).textContent(), 'Get-Process');
  await page.getByLabel('Name', { exact: true }).fill('*, with space*');
  await page.waitForURL(/Name=/);
  assert.equal(await line(page).textContent(), "Get-Process -Name *,'with space*'");
  assert.ok(await page.getByLabel('Id', { exact: true }).isDisabled());
  await page.getByLabel('Name', { exact: true }).press('Enter');
  const table = page.getByRole('table', { name: 'Result' });
  await table.getByRole('link').nth(3).waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.getByLabel('Any value contains').fill('nowhere');
  await page.getByText('No row matches the filter.').waitFor();
  await page.getByLabel('Any value contains').press('Escape');
  await table.getByRole('link').first().press('Enter');
  const dialog = page.getByRole('dialog', { name: /^Row/ });
  await dialog.getByText('ProcessName').first().waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a form follows its address and the choice of a class', { skip }, async (t) => {
  const hash = '#/commands/Get-CimInstance?ClassName=Win32_LogicalDisk';
  const { page, complaints } = await openConsole(t, browser, { hash });
  await logIn(page, 'admin');
  await page.getByRole('group', { name: 'Property' }).getByRole('button', { name: 'FreeSpace' }).press('Enter');
  await page.getByRole('group', { name: 'Property' }).getByRole('button', { name: 'DeviceID' }).press('Enter');
  assert.equal(
    await line(page).textContent(),
    'Get-CimInstance -ClassName Win32_LogicalDisk -Property DeviceID,FreeSpace',
  );
  assert.deepEqual(await findFaults(page), []);
  await page.getByLabel('Command', { exact: true }).selectOption('Get-EventLog');
  await page.waitForURL('**/#/commands/Get-EventLog');
  await page.getByLabel('LogName').selectOption('System');
  await page.getByLabel('After').fill('2026-01-31T09:30');
  await page.getByLabel('Newest').fill('5');
  const written = 'Get-EventLog -LogName System -Newest 5 -After 2026-01-31T09:30';
  assert.equal(await line(page).textContent(), written);
  await page.waitForURL(/Newest=5/);
  await page.reload();
  await logIn(page, 'admin');
  assert.equal(await line(page).textContent(), written);
  assert.deepEqual(complaints, []);
});

test('a refused command shows the reason, stays in the history, and can be changed', { skip }, async (t) => {
  const hash = '#/commands/Get-CimInstance?ClassName=Win32_Process&Filter=nonsense';
  const { page, complaints } = await openConsole(t, browser, { hash });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const alert = page.getByRole('alert');
  await alert.getByText('Refused').waitFor();
  await alert.getByText('nonsense').waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.getByLabel('Filter', { exact: true }).fill(`Name = '${processName}'`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText(/rows in/).waitFor();
  const history = page.getByRole('region', { name: 'History of this session' });
  assert.equal(await history.getByRole('listitem').count(), 2);
  await history.getByRole('link').last().press('Enter');
  await page.waitForURL(/Filter=nonsense/);
  await line(page).getByText('nonsense').waitFor();
  assert.equal(await page.getByLabel('Filter', { exact: true }).inputValue(), 'nonsense');
  await history.getByRole('button', { name: /^Run again: .*nonsense/ }).press('Enter');
  await history.getByRole('listitem').nth(2).waitFor();
  assert.deepEqual(
    complaints.filter((text) => !text.includes('403')),
    [],
  );
});

test('an address that is chosen right after typing is not overwritten', { skip }, async (t) => {
  const { page } = await openConsole(t, browser, { hash: '#/commands/Get-Process?Name=first' });
  await logIn(page, 'admin');
  await page.getByLabel('Name', { exact: true }).fill('typed');
  // The page is busy for longer than the text waits to be written.
  await page.evaluate(`(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    location.hash = '#/commands/Get-Process?Name=chosen';
    dispatchEvent(new HashChangeEvent('hashchange'));
    for (const end = performance.now() + 500; performance.now() < end; );
  })()`);
  await line(page).getByText('chosen').waitFor();
  assert.match(page.url(), /Name=chosen$/);
});

test('a reader sees the forms, and that running a command needs the role Admin', { skip }, async (t) => {
  const { page } = await openConsole(t, browser, { hash: '#/commands' });
  await logIn(page, 'reader');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('Only users with the role Admin may run commands.').waitFor();
});

test('CSV and JSON hold the filtered rows, and cells that look like formulas are quoted', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { hash: '#/commands' });
  await logIn(page, 'admin');
  const rows = ['=1+1', '+1', '-1', '@sum', 'a,b', 'say "x"', '<img src=x onerror="document.title=1">'];
  await fake(page, [...rows.map((Name) => ({ Name, Id: -5 })), { Name: 'left out', Id: 7, Other: { deep: [1] } }]);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('link', { name: '<img src=x' }).waitFor();
  await page.getByLabel('Any value contains').fill('-5');
  await page.getByRole('link', { name: 'left out' }).waitFor({ state: 'detached' });
  const [csv] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  assert.equal(csv.suggestedFilename(), 'result.csv');
  const expected = [
    "'=1+1",
    "'+1",
    "'-1",
    "'@sum",
    '"a,b"',
    '"say ""x"""',
    '"<img src=x onerror=""document.title=1"">"',
  ];
  assert.deepEqual(readFileSync(await csv.path(), 'utf8').split('\r\n'), [
    'Name,Id,Other',
    ...expected.map((name) => `${name},-5,`),
  ]);
  await page.getByRole('button', { name: 'JSON', exact: true }).click();
  await page.waitForURL(/as=json/);
  assert.deepEqual(
    JSON.parse((await page.locator('pre').textContent()) ?? '').map(({ Name }: { Name: string }) => Name),
    rows,
  );
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('a long result with long values scrolls, and a cut result says so', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { hash: '#/commands' });
  await logIn(page, 'admin');
  const names = Array.from({ length: 14 }, (_, index) => `Column${index}`);
  const rows = Array.from({ length: 5000 }, (_, row) =>
    Object.fromEntries(
      names.map((name) => [name, `${row} ${'word'.repeat(2500).slice(0, name === 'Column3' ? 10_000 : 9)}`]),
    ),
  );
  await fake(page, rows, { truncated: true });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('The server cut this result off').waitFor();
  assert.ok((await page.getByRole('row').count()) < 150);
  assert.deepEqual(await findFaults(page), []);
  await page.getByRole('link', { name: /^0 word/ }).click();
  await page.getByRole('button', { name: 'Show all of it' }).click();
  assert.ok((await page.getByRole('dialog').textContent())?.includes('word'.repeat(2500)));
  assert.deepEqual(complaints, []);
});
