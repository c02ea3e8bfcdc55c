import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { after, type TestContext, test } from 'node:test';
import { openBrowser, toSkip } from './browser.ts';
import { findFaults, openConsole } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** A process that keeps one processor busy, under a name of markup. */
const startBusy = (t: TestContext): ChildProcess => {
  const script = 'process.title = "<b>busy</b>"; for (;;);';
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  t.after(() => child.kill('SIGKILL'));
  return child;
};

test('processes have a CPU share from two readings, and their names are shown as text', { skip }, async (t) => {
  const { pid } = startBusy(t);
  const { page, complaints } = await openConsole(t, browser, { hash: `#/processes?q=${pid}` });
  const row = page.getByRole('row').filter({ hasText: String(pid) });
  await row.getByText('<b>busy</b>').waitFor();
  await row.getByText(/^[1-9]\d*\.\d %$/).waitFor();
  assert.deepEqual(await findFaults(page), []);
  assert.deepEqual(complaints, []);
});

test('a process is shown with its user and start from the first moment on', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser);
  await page.evaluate(`
    const row = () => [...document.querySelectorAll('tr')].find(({ cells }) => cells[3]?.textContent === '${process.pid}');
    const read = () => [1, 2, 6, 7].map((index) => row()?.cells[index].textContent);
    globalThis.seen = new Promise((resolve) => {
      new MutationObserver(() => row() && resolve(read())).observe(document, { childList: true, subtree: true });
    });
    globalThis.readRow = read;
    location.hash = '#/processes?q=${process.pid}'`);
  const first = await page.evaluate<string[]>('seen');
  await page.waitForTimeout(4500);
  const [name, user, threads, started] = await page.evaluate<string[]>('readRow()');
  assert.deepEqual([first[0], first[1], first[3]], [name, user, started]);
  assert.equal(first[2] === '–', threads === '–');
  assert.deepEqual(complaints, []);
});

test('processes are filtered while typing and sorted by a column, both in the address', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { hash: '#/processes' });
  const table = page.getByRole('table', { name: 'Processes' });
  await table.getByRole('row').nth(3).waitFor();
  await page.getByRole('button', { name: 'PID' }).click();
  await page.waitForURL('**/#/processes?sort=pid-down');
  await table
    .getByRole('columnheader', { name: 'PID', exact: false })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor();
  const pids = async () => {
    const texts = await table
      .getByRole('button', { name: /^Pin / })
      .evaluateAll((buttons: unknown[]) => buttons.map((button) => (button as { ariaLabel: string }).ariaLabel));
    return texts.map((label) => Number(/\d+$/.exec(label)?.[0]));
  };
  const shown = await pids();
  assert.deepEqual(
    shown,
    shown.toSorted((a, b) => b - a),
  );
  await page.getByLabel('Name, user or PID contains').fill(String(process.pid));
  await page.waitForURL(`**/#/processes?sort=pid-down&q=${process.pid}`);
  await page.getByText(/^\d+ of .* processes/).waitFor();
  await page.getByLabel('Name, user or PID contains').fill('no such process');
  await page.getByText('No process matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await table.getByRole('row').nth(3).waitFor();
  assert.equal(await page.getByRole('button', { name: /kill|end|stop/i }).count(), 0);
  assert.deepEqual(complaints, []);
});

test('a pinned process shows its lines, and stays when it has ended', { skip }, async (t) => {
  const child = startBusy(t);
  const { page, complaints } = await openConsole(t, browser, { hash: `#/processes?q=${child.pid}` });
  await page.getByRole('button', { name: `Pin <b>busy</b>, ${child.pid}`, exact: true }).press('Enter');
  await page.waitForURL(`**/#/processes?q=${child.pid}&pin=${child.pid}`);
  const panel = page.getByRole('region', { name: 'Pinned process' });
  await panel.getByText(/<b>busy<\/b>: now .* %, lowest .* %, highest .* %\.$/).waitFor({ state: 'attached' });
  assert.deepEqual(await findFaults(page), []);
  child.kill('SIGKILL');
  await panel.getByText('It has ended.').waitFor();
  await panel.getByRole('button', { name: 'Unpin' }).click();
  await panel.waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByText(`There is no process ${child.pid}.`).waitFor();
  assert.deepEqual(complaints, []);
});

test('the focus stays on a process while the readings change', { skip }, async (t) => {
  startBusy(t);
  const { page, complaints } = await openConsole(t, browser, { hash: '#/processes?sort=cpu-down' });
  const pin = page.getByRole('button', { name: new RegExp(`^Pin .*, ${process.pid}$`) });
  await page.getByText('%').nth(2).waitFor();
  await pin.focus();
  await page.waitForTimeout(5000);
  assert.ok(await pin.evaluate((button: unknown) => (button as { matches(css: string): boolean }).matches(':focus')));
  assert.deepEqual(complaints, []);
});

test('without events the processes are read again and again', { skip }, async (t) => {
  const { pid } = startBusy(t);
  const settings = { profiles: ['monitoring'] };
  const { page } = await openConsole(t, browser, { settings, hash: `#/processes?q=${pid}` });
  await page.route('**/api/events*', (route) => route.fulfill({ status: 503 }));
  await page.reload();
  await page.getByText('Polling').waitFor();
  await page
    .getByRole('row')
    .filter({ hasText: String(pid) })
    .getByText(/^[1-9]\d*\.\d %$/)
    .waitFor();
});
