import { expect, type Page } from '@playwright/test';
import { waitUntil } from '../support/wait.ts';
import { sendAlert, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { logIn, waitUntilLoaded } from './support/page.ts';

const addTask = (app: TestApp, Title: string, Priority = 'Medium') =>
  app.request('POST', '/api/tasks', { body: { Title, Priority } });

const task = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const sessionButton = (page: Page, name: string) => page.getByRole('banner').getByRole('button', { name });

test('back, forward and reload restore filters, views, sorting and an open task', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await addTask(app, 'first', 'High');
  await addTask(app, 'second');
  const { page, complaints } = await openConsole({ app, hash: '#/tasks' });
  await page.getByRole('button', { name: /^High/ }).click();
  await expect(task(page, 'second')).toHaveCount(0);
  await page.getByRole('button', { name: 'Priority', exact: true }).click();
  await page.waitForURL('**/#/tasks?priority=High&sort=priority-down');
  await page.getByRole('link', { name: 'Open first' }).click();
  const title = page.getByRole('dialog').getByLabel('Title', { exact: true });
  await expect(title).toBeVisible();
  await page.reload();
  await expect(title).toHaveValue('first');
  await page.goBack();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goBack();
  await page.waitForURL('**/#/tasks?priority=High');
  await page.goBack();
  await expect(task(page, 'second')).toBeVisible();
  for (let step = 0; step < 3; step += 1) await page.goForward();
  await expect(title).toBeVisible();
  await page.keyboard.press('Escape');
  await page.waitForURL('**/#/tasks?priority=High&sort=priority-down');
  await page.getByRole('button', { name: 'Board' }).click();
  await page.reload();
  await expect(page.getByRole('region', { name: /^Pending/ }).getByText('first')).toBeVisible();
  expect(complaints).toEqual([]);
});

test('each tab has its own login, and logging out affects only one tab', async ({ openConsole }) => {
  const { page, app } = await openConsole({ hash: '#/nowhere' });
  await sessionButton(page, 'Log in').click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await page.keyboard.press('Escape');
  await logIn(page, 'admin');
  const other = await page.context().newPage();
  await other.goto(`${app.url}/console/#/nowhere`);
  await expect(sessionButton(other, 'Log in')).toBeVisible();
  await logIn(other, 'reader');
  await sessionButton(page, 'admin, Admin').click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(sessionButton(page, 'Log in')).toBeVisible();
  await expect(sessionButton(other, 'reader, Reader')).toBeVisible();
  await page.reload();
  await expect(sessionButton(page, 'Log in')).toBeVisible();
});

test('deep links open their screens and records', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await addTask(app, 'the only one', 'High');
  const id = await sendAlert(app, { level: 'ERROR', message: 'sda1 is full', source: 'disk' });
  const { page, complaints } = await openConsole({ app, hash: '#/nowhere' });
  const links: [hash: string, shows: () => Promise<unknown>][] = [
    ['#/tasks/1', () => page.getByRole('dialog', { name: 'Task 1' }).getByLabel('Title', { exact: true }).waitFor()],
    [
      '#/tasks?view=board&priority=High',
      () => page.getByRole('listitem').filter({ hasText: 'the only one' }).waitFor(),
    ],
    ['#/tasks?q=nothing', () => page.getByText('No matching tasks').waitFor()],
    [`#/alerts/${id}`, () => page.getByRole('dialog', { name: 'Alert' }).getByText('sda1 is full').first().waitFor()],
    ['#/alerts?level=INFO', () => page.getByText('No matching alerts').waitFor()],
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
  expect(complaints).toEqual([]);
});

test('paste, undo, Enter and Esc work as usual in fields', async ({ openConsole }) => {
  const { page, app, complaints } = await openConsole({ hash: '#/tasks/new' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const title = page.getByLabel('Title', { exact: true });
  await title.pressSequentially('Check ');
  await page.evaluate('navigator.clipboard.writeText("the backups")');
  await page.keyboard.press('Control+v');
  await expect(title).toHaveValue('Check the backups');
  await page.keyboard.press('Control+z');
  await expect(title).toHaveValue('Check ');
  await page.keyboard.press('Control+Shift+z');
  await expect(title).toHaveValue('Check the backups');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.goBack();
  await expect(title).toHaveValue('Check the backups');
  await title.press('Enter');
  await expect(task(page, 'Check the backups')).toBeVisible();

  const filter = page.getByLabel('Title contains');
  await filter.pressSequentially('CHECK');
  await page.waitForURL('**q=CHECK');
  await filter.pressSequentially(' nothing');
  await expect(page.getByText('No matching tasks')).toBeVisible();
  await page.keyboard.press('Control+z');
  expect(await filter.inputValue()).not.toBe('CHECK nothing');
  await filter.press('Escape');
  await expect(filter).toHaveValue('');
  await page.getByRole('button', { name: 'Delete Check the backups' }).click();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(task(page, 'Check the backups')).toBeVisible();
  expect((await app.request('GET', '/api/tasks/1')).json['Title']).toBe('Check the backups');
  expect(complaints).toEqual([]);
});

test('text can be selected and copied as on any page', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const id = await sendAlert(app, { message: 'sda1 is full', source: 'disk' });
  const { page } = await openConsole({ app, hash: `#/alerts/${id}` });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const message = page.getByRole('dialog').getByText('sda1 is full').first();
  await message.click({ clickCount: 3 });
  await page.keyboard.press('Control+c');
  expect(((await page.evaluate('navigator.clipboard.readText()')) as string).trim()).toBe('sda1 is full');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  expect((await page.evaluate('navigator.clipboard.readText()')) as string).toMatch(/sda1 is full\s+disk/);
});

test('a printed list shows every row in full and no navigation', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const long = 'a message that is longer than its column '.repeat(8).trim();
  for (let number = 0; number < 90; number += 1) await sendAlert(app, { message: `alert ${number}. ${long}` });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts', colorScheme: 'dark' });
  await expect(page.getByRole('link', { name: 'alert 89.' })).toBeVisible();
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
  expect(paper.length).toBeGreaterThan(10_000);
  expect(await page.evaluate('globalThis.printed')).toEqual({ rows: 90, cut: 0 });
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('navigation').isVisible()).toBe(false);
  expect(await page.getByRole('banner').isVisible()).toBe(false);
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
  expect(complaints).toEqual([]);
});

const screens = [
  '',
  'processes',
  'tasks',
  'tasks?view=board',
  'alerts',
  'commands',
  'audit',
  'notifications',
  'notifications?view=sent',
  'silences',
  'items',
];

/** Finds controls outside the window that cannot be reached by scrolling sideways. */
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

test('every screen fits the window at 200 % zoom', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await addTask(app, 'a task with quite a long title, as people write them when they are in a hurry');
  await sendAlert(app, { level: 'ERROR', message: 'Upstream timed out after 30 s' });
  // A window of 1440 px at 200 % has 720 CSS pixels.
  const options = { app, viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 };
  const { page, complaints } = await openConsole(options);
  await logIn(page, 'admin');
  for (const screen of screens) {
    await page.goto(`/console/#/${screen}`);
    await waitUntilLoaded(page);
    expect(await page.evaluate('document.documentElement.scrollWidth'), screen).toBe(720);
    expect(await findCutOff(page), screen).toEqual([]);
  }
  expect(complaints).toEqual([]);
});

test('nothing is animated for users who prefer reduced motion', async ({ openConsole }) => {
  const { page, app } = await openConsole({ hash: '#/alerts', reducedMotion: 'reduce' });
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await sendAlert(app, { message: 'arrives' });
  await expect(page.getByRole('link', { name: 'arrives' })).toBeVisible();
  await page.getByRole('link', { name: 'Tasks', exact: true }).hover();
  expect(await page.evaluate('document.getAnimations().length')).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await page.evaluate('addEventListener("animationstart", () => { globalThis.hasMoved = true })');
  await sendAlert(app, { message: 'arrives too' });
  await expect(page.getByRole('link', { name: 'arrives too' })).toBeVisible();
  await waitUntil('an animation runs', () => page.evaluate<boolean>('globalThis.hasMoved === true'));
});

/** Reads the outline and background colour of a button. */
const readLook = (page: Page, name: string | RegExp): Promise<string> =>
  page.getByRole('button', { name }).evaluate((element: unknown) => {
    const style = (
      globalThis as unknown as { getComputedStyle(element: unknown): Record<string, string> }
    ).getComputedStyle(element);
    return `${style['outlineStyle']} ${style['outlineWidth']} ${style['outlineColor']} ${style['backgroundColor']}`;
  });

test('focus, pressed chips and charts stay visible in forced colours', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  await sendAlert(app, { level: 'ERROR' });
  await sendAlert(app, { level: 'INFO' });
  const { page, complaints } = await openConsole({ app, hash: '#/alerts', forcedColors: 'active' });
  await expect(page.getByRole('table', { name: 'Alerts' }).getByRole('link').first()).toBeVisible();
  const before = await readLook(page, /^Error/);
  await page.getByRole('button', { name: /^Error/ }).press('Enter');
  await page.waitForURL('**severity=ERROR');
  await page.getByRole('heading', { level: 1 }).click();
  expect(await readLook(page, /^Error/)).not.toBe(before);
  const plain = await readLook(page, /^Critical/);
  await page.getByRole('button', { name: /^Critical/ }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Shift+Tab');
  expect(await readLook(page, /^Critical/)).not.toBe(plain);
  const fills = await page.evaluate(`[...document.querySelectorAll('.histogram g rect:not(.ground)')]
    .map((bar) => getComputedStyle(bar).fill)`);
  expect(fills).not.toEqual([]);
  await page.goto('/console/#/');
  await expect(page.getByText('Critical').first()).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Network' })).toBeVisible();
  await expect(page.getByText('received').first()).toBeVisible();
  const countColours = () =>
    page.evaluate<number>(`new Set([...document.querySelectorAll('.swatch')]
      .map((swatch) => getComputedStyle(swatch).backgroundColor)).size`);
  await expect.poll(countColours).toBeGreaterThanOrEqual(3);
  expect(complaints).toEqual([]);
});
