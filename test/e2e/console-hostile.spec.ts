import { spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { createFolder } from '../support/folder.ts';
import { keepRunning } from '../support/host.ts';
import type { Scope } from '../support/scope.ts';
import { sendAlert } from './support/app.ts';
import { test } from './support/console.ts';
import { findFaults, logIn, waitUntilLoaded } from './support/page.ts';
import { startPager } from './support/pager.ts';

const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const backwards = '\u202egnp.exe\u200f\u2067';
const controls = '\u0007\u001b[31mred\u0000\u0085';
const word = 'w'.repeat(10_240);

/** Counts elements that exist only if a text was rendered as markup. */
const findMarkup = (page: Page): Promise<number> =>
  page.evaluate(`document.querySelectorAll('main img, main script, dialog img, dialog script').length`);

const check = async (page: Page, complaints: string[]): Promise<void> => {
  expect(await findMarkup(page), page.url()).toBe(0);
  expect(await page.title()).toMatch(/ · signalbox$/);
  expect(await findFaults(page, []), page.url()).toEqual([]);
  expect(complaints).toEqual([]);
};

/** Starts a process with a name. Runs a copy of sleep, because the kernel names a process after its file. */
const startNamed = (scope: Scope, name: string): Promise<number> => {
  const path = join(createFolder(scope), name);
  copyFileSync('/bin/sleep', path);
  return keepRunning(scope, spawn(path, ['120'], { stdio: 'ignore', argv0: name }));
};

test("hostile process names are shown as text, in the table and in a command's result", async ({
  scope,
  openConsole,
}) => {
  test.skip(process.platform !== 'linux', 'the names of processes are read differently');
  const tag = '<img src=x onerror=document.title=1>';
  const names = [`${tag}${backwards}`, `${tag}${'w'.repeat(200)}`, `${tag}\n\u001b[31mred`];
  const pids: number[] = [];
  for (const name of names) pids.push(await startNamed(scope, name));
  const { page, complaints } = await openConsole({ hash: '#/processes?q=img' });
  await expect(page.getByText(/^3 of .* processes/)).toBeVisible();
  await expect(page.getByText(tag).nth(2)).toBeVisible();
  await check(page, complaints);
  await page.goto(`/console/#/processes?q=img&pin=${pids[1]}`);
  const pinned = page.getByRole('region', { name: 'Pinned process' });
  await pinned.getByRole('button', { name: 'Show all' }).click();
  await expect(pinned.getByText(names[1] ?? '', { exact: true })).toBeVisible();
  await check(page, complaints);
  await page.goto('/console/#/commands/Get-Process?Name=*img*');
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const table = page.getByRole('table', { name: 'Result' });
  await expect(table.getByRole('row').filter({ hasText: 'img src=x' }).nth(2)).toBeVisible();
  await check(page, complaints);
  for (const view of ['CSV', 'JSON']) {
    await page.getByRole('button', { name: view, exact: true }).click();
    await expect(page.getByText(tag).first()).toBeVisible();
    await check(page, complaints);
  }
});

test('hostile alerts, tasks and reasons are shown as text, in full or with a way to see the full text', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({ settings: await startPager(scope) });
  const ids: string[] = [];
  for (const text of [markup, backwards, controls, word])
    ids.push(await sendAlert(app, { level: text, source: text, hostname: text, message: text }));
  const add = async (fields: Record<string, string>) =>
    (await app.request('POST', '/api/tasks', { body: fields })).status;
  for (const Title of [markup, backwards, '\u001b[31mred', 'w'.repeat(200)])
    expect(await add({ Title, Description: `${markup}${backwards}` })).toBe(201);
  const token = await app.login('admin');
  for (const command of [markup, backwards, `Get-Process -Name ${'w'.repeat(500)}`])
    await app.request('POST', '/api/execute', { token, body: { command } });
  await app.request('POST', '/api/items', { token, body: { name: word.slice(0, 200) } });
  for (const text of [markup, backwards, controls, word]) {
    const match = { source: text.slice(0, 256), text: '*' };
    const body = { match, endsAt: '2090-01-01T00:00:00Z', comment: text.slice(0, 4000) };
    expect((await app.request('POST', '/api/silences', { token, body })).status).toBe(201);
  }
  const { page, complaints } = await openConsole({ app, hash: '#/alerts' });
  await logIn(page, 'admin');
  for (const hash of [
    '#/',
    '#/alerts?fold=off',
    '#/tasks',
    '#/tasks?view=board',
    '#/audit',
    '#/notifications',
    '#/notifications?view=sent',
    '#/silences',
    '#/items',
  ]) {
    await page.goto(`/console/${hash}`);
    await waitUntilLoaded(page);
    await check(page, complaints);
  }
  for (const id of ids) {
    await page.goto(`/console/#/alerts/${id}`);
    await expect(page.getByRole('dialog').getByRole('button', { name: 'Copy as text' })).toBeVisible();
    await check(page, complaints);
  }
  await page.getByRole('button', { name: 'Show all' }).first().click();
  await expect(page.getByRole('dialog').getByText(word).first()).toBeVisible();
  await check(page, complaints);
  await page.goto('/console/#/tasks/4');
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('w'.repeat(200));
  await expect(page.getByLabel('Description')).toHaveValue(`${markup}${backwards}`);
  await check(page, complaints);
});
