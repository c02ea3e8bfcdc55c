import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { waitUntil } from '../support/wait.ts';
import { openBrowser, toSkip } from './browser.ts';
import { logIn, openConsole, waitUntilLoaded } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const addTask = (app: TestApp, Title: string, Priority = 'Medium') =>
  app.request('POST', '/api/tasks', { body: { Title, Priority } });

const task = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const sessionButton = (page: Page, name: string) => page.getByRole('banner').getByRole('button', { name });

test('back, forward and reload lead through filters, views, sorting and an open task', { skip }, async (t) => {
  const app = await startApp(t);
  await addTask(app, 'first', 'High');
  await addTask(app, 'second');
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/tasks' });
  await page.getByRole('button', { name: /^High/ }).click();
  await task(page, 'second').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Priority', exact: true }).click();
  await page.waitForURL('**/#/tasks?priority=High&sort=priority-down');
  await page.getByRole('link', { name: 'Open first' }).click();
  const title = page.getByRole('dialog').getByLabel('Title', { exact: true });
  await title.waitFor();
  await page.reload();
  assert.equal(await title.inputValue(), 'first');
  await page.goBack();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  await page.waitForURL('**/#/tasks?priority=High');
  await page.goBack();
  await task(page, 'second').waitFor();
  for (let step = 0; step < 3; step += 1) await page.goForward();
  await title.waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL('**/#/tasks?priority=High&sort=priority-down');
  await page.getByRole('button', { name: 'Board' }).click();
  await page.reload();
  await page
    .getByRole('region', { name: /^Pending/ })
    .getByText('first')
    .waitFor();
  assert.deepEqual(complaints, []);
});

test('two tabs have logins of their own, and a log-out ends only one of them', { skip }, async (t) => {
  const { page, app } = await openConsole(t, browser);
  await sessionButton(page, 'Log in').click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await page.keyboard.press('Escape');
  await logIn(page, 'admin');
  const other = await page.context().newPage();
  await other.goto(`${app.url}/console/`);
  await sessionButton(other, 'Log in').waitFor();
  await logIn(other, 'reader');
  await sessionButton(page, 'admin, Admin').click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await sessionButton(page, 'Log in').waitFor();
  await sessionButton(other, 'reader, Reader').waitFor();
  await page.reload();
  await sessionButton(page, 'Log in').waitFor();
});

test('deep links open what they name', { skip }, async (t) => {
  const app = await startApp(t);
  await addTask(app, 'the only one', 'High');
  const id = await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk' });
  const { page, complaints } = await openConsole(t, browser, { app });
  const links: [hash: string, shows: () => Promise<unknown>][] = [
    ['#/tasks/1', () => page.getByRole('dialog', { name: 'Task 1' }).getByLabel('Title', { exact: true }).waitFor()],
    [
      '#/tasks?view=board&priority=High',
      () => page.getByRole('listitem').filter({ hasText: 'the only one' }).waitFor(),
    ],
    ['#/tasks?q=nothing', () => page.getByText('No task matches').waitFor()],
    [`#/alerts/${id}`, () => page.getByRole('dialog', { name: 'Alert' }).getByText('sda1 is full').first().waitFor()],
    ['#/alerts?level=INFO', () => page.getByText('No alert matches').waitFor()],
    ['#/alerts?range=7d&fold=off', () => page.getByRole('button', { name: '7 d', pressed: true }).waitFor()],
    ['#/processes?sort=pid', () => page.locator('th[aria-sort=ascending]', { hasText: 'PID' }).waitFor()],
    [`#/processes?pin=${process.pid}`, () => page.getByRole('region', { name: 'Pinned process' }).waitFor()],
    ['#/?range=day', () => page.getByRole('button', { name: '24 h', pressed: true }).waitFor()],
  ];
  for (const [hash, shows] of links) {
    await page.goto(`/console/${hash}`);
    await shows();
    await page.reload();
    await shows();
  }
  assert.deepEqual(complaints, []);
});

test('paste, undo, Enter and Esc do in fields what they do everywhere', { skip }, async (t) => {
  const { page, app, complaints } = await openConsole(t, browser, { hash: '#/tasks/new' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const title = page.getByLabel('Title', { exact: true });
  await title.pressSequentially('Check ');
  await page.evaluate('navigator.clipboard.writeText("the backups")');
  await page.keyboard.press('Control+v');
  assert.equal(await title.inputValue(), 'Check the backups');
  await page.keyboard.press('Control+z');
  assert.equal(await title.inputValue(), 'Check ');
  await page.keyboard.press('Control+Shift+z');
  assert.equal(await title.inputValue(), 'Check the backups');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  assert.equal(await title.inputValue(), 'Check the backups');
  await title.press('Enter');
  await task(page, 'Check the backups').waitFor();

  const filter = page.getByLabel('Title contains');
  await filter.pressSequentially('CHECK');
  await page.waitForURL('**q=CHECK');
  await filter.pressSequentially(' nothing');
  await page.getByText('No task matches').waitFor();
  await page.keyboard.press('Control+z');
  assert.notEqual(await filter.inputValue(), 'CHECK nothing');
  await filter.press('Escape');
  assert.equal(await filter.inputValue(), '');
  await page.getByRole('button', { name: 'Delete Check the backups' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await task(page, 'Check the backups').waitFor();
  assert.equal((await app.request('GET', '/api/tasks/1')).json['Title'], 'Check the backups');
  assert.deepEqual(complaints, []);
});

test('text is selected and copied like on any page', { skip }, async (t) => {
  const app = await startApp(t);
  const id = await sendAlert(app, { message: 'sda1 is full', source: 'disk' });
  const { page } = await openConsole(t, browser, { app, hash: `#/alerts/${id}` });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const message = page.getByRole('dialog').getByText('sda1 is full').first();
  await message.click({ clickCount: 3 });
  await page.keyboard.press('Control+c');
  assert.equal(((await page.evaluate('navigator.clipboard.readText()')) as string).trim(), 'sda1 is full');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  assert.match((await page.evaluate('navigator.clipboard.readText()')) as string, /sda1 is full\s+disk/);
});

test('a printed list has every row in full and no navigation', { skip }, async (t) => {
  const app = await startApp(t);
  const long = 'a message that is longer than its column '.repeat(8).trim();
  for (let number = 0; number < 90; number += 1) await sendAlert(app, { message: `alert ${number}. ${long}` });
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/alerts', colorScheme: 'dark' });
  await page.getByRole('link', { name: 'alert 89.' }).waitFor();
  await page.evaluate(`matchMedia('print').addEventListener('change', ({ matches }) => {
    if (!matches) return;
    const rows = [...document.querySelectorAll('tbody tr')];
    const cells = rows.flatMap((row) => [...row.querySelectorAll('td')]);
    globalThis.printed = {
      rows: rows.filter((row) => row.textContent.includes('alert ')).length,
      cut: cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length,
    };
  })`);
  const paper = await page.pdf({ format: 'A4' });
  assert.ok(paper.length > 10_000);
  assert.deepEqual(await page.evaluate('globalThis.printed'), { rows: 90, cut: 0 });
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('navigation').isVisible(), false);
  assert.equal(await page.getByRole('banner').isVisible(), false);
  assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'light');
  assert.deepEqual(complaints, []);
});

const screens = ['', 'processes', 'tasks', 'tasks?view=board', 'alerts', 'commands', 'audit', 'deliveries', 'items'];

/** Controls that are outside of the window and of every part that scrolls sideways. */
const findCutOff = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main a, main button, main input, main select, header a, header button')]
    .filter((element) => {
      const { left, right, width } = element.getBoundingClientRect();
      if (width === 0 || (left >= 0 && right <= innerWidth)) return false;
      for (let parent = element.parentElement; parent; parent = parent.parentElement) {
        if (['auto', 'scroll'].includes(getComputedStyle(parent).overflowX)) return false;
      }
      return true;
    })
    .map((element) => element.outerHTML.slice(0, 200))`);

test('every screen fits at a zoom of 200 %', { skip }, async (t) => {
  const app = await startApp(t);
  await addTask(app, 'a task with quite a long title, as people write them when they are in a hurry');
  await sendAlert(app, { level: 'ERROR', message: 'Upstream timed out after 30 s' });
  // A window of 1440 px at 200 % has 720 CSS pixels.
  const options = { app, viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 };
  const { page, complaints } = await openConsole(t, browser, options);
  await logIn(page, 'admin');
  for (const screen of screens) {
    await page.goto(`/console/#/${screen}`);
    await waitUntilLoaded(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 720, screen);
    assert.deepEqual(await findCutOff(page), [], screen);
  }
  assert.deepEqual(complaints, []);
});

test('nothing moves for users who ask for reduced motion', { skip }, async (t) => {
  const { page, app } = await openConsole(t, browser, { hash: '#/alerts', reducedMotion: 'reduce' });
  await page.getByText('Live', { exact: true }).waitFor();
  await sendAlert(app, { message: 'arrives' });
  await page.getByRole('link', { name: 'arrives' }).waitFor();
  await page.getByRole('link', { name: 'Tasks', exact: true }).hover();
  assert.equal(await page.evaluate('document.getAnimations().length'), 0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.evaluate('addEventListener("animationstart", () => { globalThis.hasMoved = true })');
  await sendAlert(app, { message: 'arrives too' });
  await page.getByRole('link', { name: 'arrives too' }).waitFor();
  await waitUntil('something moves', () => page.evaluate<boolean>('globalThis.hasMoved === true'));
});

/** How an element looks: its outline, and the colours of its border and background. */
const readLook = (page: Page, name: string | RegExp): Promise<string> =>
  page.getByRole('button', { name }).evaluate((element: unknown) => {
    const style = (
      globalThis as unknown as { getComputedStyle(element: unknown): Record<string, string> }
    ).getComputedStyle(element);
    return `${style['outlineStyle']} ${style['outlineWidth']} ${style['outlineColor']} ${style['backgroundColor']}`;
  });

test('focus, pressed chips and charts stay visible in forced colours', { skip }, async (t) => {
  const app = await startApp(t);
  await sendAlert(app, { level: 'ERROR' });
  await sendAlert(app, { level: 'INFO' });
  const { page, complaints } = await openConsole(t, browser, { app, hash: '#/alerts', forcedColors: 'active' });
  await page.getByRole('table', { name: 'Alerts' }).getByRole('link').first().waitFor();
  const before = await readLook(page, /^Error/);
  await page.getByRole('button', { name: /^Error/ }).press('Enter');
  await page.waitForURL('**severity=ERROR');
  await page.getByRole('heading', { level: 1 }).click();
  assert.notEqual(await readLook(page, /^Error/), before);
  const plain = await readLook(page, /^Critical/);
  await page.getByRole('button', { name: /^Critical/ }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  assert.notEqual(await readLook(page, /^Critical/), plain);
  const fills = await page.evaluate(`[...document.querySelectorAll('.histogram g rect:not(.ground)')]
    .map((bar) => getComputedStyle(bar).fill)`);
  assert.ok((fills as string[]).length > 0);
  await page.goto('/console/#/');
  await page.getByText('Critical').first().waitFor();
  await page.getByRole('heading', { name: 'Network' }).waitFor();
  await page.getByText('received').first().waitFor();
  const swatches = await page.evaluate<string[]>(`[...document.querySelectorAll('.swatch')]
    .map((swatch) => getComputedStyle(swatch).backgroundColor)`);
  assert.ok(new Set(swatches).size >= 3, String(swatches));
  assert.deepEqual(complaints, []);
});
