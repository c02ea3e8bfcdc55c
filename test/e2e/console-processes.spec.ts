import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from '@playwright/test';
import type { Scope } from '../support/scope.ts';
import { test } from './support/console.ts';
import { findFaults } from './support/page.ts';

/** Starts a process that uses a fifth of a CPU and has markup as its name. */
const startBusy = (scope: Scope): ChildProcess => {
  const script = `process.title = '<b>busy</b>';
    setInterval(() => { for (const end = performance.now() + 20; performance.now() < end; ); }, 100)`;
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  scope.after(() => child.kill('SIGKILL'));
  return child;
};

test('processes show a CPU share calculated from two readings, and their names as text', async ({
  scope,
  openConsole,
}) => {
  const { pid } = startBusy(scope);
  const { page, complaints } = await openConsole({ hash: `#/processes?q=${pid}` });
  const row = page.getByRole('row').filter({ hasText: String(pid) });
  await expect(row.getByText('<b>busy</b>')).toBeVisible();
  await expect(row.getByText(/^[1-9]\d*\.\d %$/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a process shows its user and start time immediately', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
  // Blocks the list, because it has fewer fields, and the console requests it if no event arrives within a second.
  await page.route('**/api/processes*', () => new Promise(() => undefined));
  await page.evaluate(`
    const row = () => [...document.querySelectorAll('tr')].find(({ cells }) => cells[3]?.textContent === '${process.pid}');
    const read = () => [1, 2, 6, 7].map((index) => row()?.cells[index].textContent);
    globalThis.seen = new Promise((resolve) => {
      new MutationObserver(() => row() && resolve(read())).observe(document, { childList: true, subtree: true });
    });
    globalThis.readRow = read;
    location.hash = '#/processes?q=${process.pid}'`);
  const first = await page.evaluate<string[]>('seen');
  // The CPU share needs a second reading.
  await expect(
    page
      .getByRole('row')
      .filter({ hasText: `${process.pid}` })
      .getByText(/\d %$/)
      .first(),
  ).toBeVisible();
  const [name, user, threads, started] = await page.evaluate<string[]>('readRow()');
  expect([first[0], first[1], first[3]]).toEqual([name, user, started]);
  expect(first[2] === '–').toBe(threads === '–');
  expect(complaints).toEqual([]);
});

test('processes are filtered while typing and sorted by a column, and the address contains both', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ hash: '#/processes' });
  const table = page.getByRole('table', { name: 'Processes' });
  await expect(table.getByRole('row').nth(3)).toBeVisible();
  await page.getByRole('button', { name: 'PID' }).click();
  await page.waitForURL('**/#/processes?sort=pid-down');
  await expect(
    table.getByRole('columnheader', { name: 'PID', exact: false }).and(page.locator('[aria-sort=descending]')),
  ).toBeVisible();
  const pids = async () => {
    const texts = await table
      .getByRole('button', { name: /^Pin / })
      .evaluateAll((buttons) => buttons.map(({ ariaLabel }) => ariaLabel ?? ''));
    return texts.map((label) => Number(/\d+$/.exec(label)?.[0]));
  };
  const shown = await pids();
  expect(shown).toEqual(shown.toSorted((a, b) => b - a));
  await page.getByLabel('Name, user or PID contains').fill(String(process.pid));
  await page.waitForURL(`**/#/processes?sort=pid-down&q=${process.pid}`);
  await expect(page.getByText(/^\d+ of .* processes/)).toBeVisible();
  await page.getByLabel('Name, user or PID contains').fill('no such process');
  await expect(page.getByText('No matching processes')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(table.getByRole('row').nth(3)).toBeVisible();
  await expect(page.getByRole('button', { name: /^(kill|end|stop)\b/i })).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('a pinned process shows its charts, and stays after it has ended', async ({ scope, openConsole }) => {
  const child = startBusy(scope);
  const { page, complaints } = await openConsole({ hash: `#/processes?q=${child.pid}` });
  await page.getByRole('button', { name: `Pin <b>busy</b>, ${child.pid}`, exact: true }).press('Enter');
  await page.waitForURL(`**/#/processes?q=${child.pid}&pin=${child.pid}`);
  const panel = page.getByRole('region', { name: 'Pinned process' });
  await expect(panel.getByText(/<b>busy<\/b>: now .* %, lowest .* %, highest .* %\.$/)).toBeAttached();
  expect(await findFaults(page)).toEqual([]);
  child.kill('SIGKILL');
  await expect(panel.getByText('The process has ended.')).toBeVisible();
  await panel.getByRole('button', { name: 'Unpin' }).click();
  await expect(panel).toHaveCount(0);
  await page.goBack();
  await expect(page.getByText(`Process ${child.pid} not found`)).toBeVisible();
  expect(complaints).toEqual([]);
});

test('the focus stays on a process while the readings change', async ({ scope, openConsole }) => {
  startBusy(scope);
  const { page, complaints } = await openConsole({ hash: '#/processes?sort=cpu-down' });
  const table = page.getByRole('table', { name: 'Processes' });
  const pin = page.getByRole('button', { name: new RegExp(`^Pin .*, ${process.pid}$`) });
  await expect(page.getByText('%').nth(2)).toBeVisible();
  await pin.focus();
  for (let reading = 0; reading < 2; reading += 1) {
    const before = await table.textContent();
    await expect.poll(() => table.textContent()).not.toBe(before);
    await expect(pin).toBeFocused();
  }
  expect(complaints).toEqual([]);
});

test('without events, processes are polled', async ({ scope, openConsole }) => {
  const { pid } = startBusy(scope);
  const settings = { profiles: ['monitoring'] };
  const { page } = await openConsole({ settings, hash: `#/processes?q=${pid}` });
  await page.route('**/api/events*', (route) => route.fulfill({ status: 503 }));
  await page.reload();
  await expect(page.getByText('Polling')).toBeVisible();
  await expect(
    page
      .getByRole('row')
      .filter({ hasText: String(pid) })
      .getByText(/^[1-9]\d*\.\d %$/),
  ).toBeVisible();
});
