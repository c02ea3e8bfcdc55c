import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { fillLogin, findFaults, logIn, openConsole, waitUntilLoaded } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

test('the navigation of the console shows the screens of mounted profiles only', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { settings: { profiles: ['items'] } });
  const links = page.getByRole('navigation').getByRole('link');
  assert.ok((await links.allTextContents()).includes('Overview'));
  assert.equal(await page.getByRole('link', { name: 'Alerts' }).count(), 0);
  assert.deepEqual(complaints, []);
});

test('every screen of the console has an address and a heading of its name', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser);
  const links = page.getByRole('navigation').getByRole('link').filter({ hasNotText: 'API reference' });
  const names = await links.allTextContents();
  assert.ok(names.includes('Alerts'));
  for (const name of names) {
    await page.getByRole('link', { name, exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    assert.equal(await page.title(), `${name} · signalbox`);
  }
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: names.at(-2) ?? '' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: names.at(-2) ?? '' }).waitFor();
  await page.goto('/console/#/nowhere');
  await page.getByRole('heading', { name: 'There is no such screen' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('a login keeps its token in memory, and in this tab only if the user asks for it', { skip }, async (t) => {
  const { page } = await openConsole(t, browser);
  const stored = (): Promise<string> => page.evaluate('JSON.stringify([sessionStorage, localStorage, location.href])');
  const banner = page.getByRole('banner');
  await banner.getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'admin', 'wrong');
  await page.getByRole('alert').getByText('Invalid password').waitFor();
  await fillLogin(page, 'admin');
  await banner.getByRole('button', { name: 'admin, Admin' }).waitFor();
  assert.doesNotMatch(await stored(), /eyJ/);
  await page.reload();
  await banner.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.reload();
  await banner.getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await banner.getByRole('button', { name: 'Log in' }).waitFor();
  assert.doesNotMatch(await stored(), /eyJ/);
});

test('the console counts down until another login may be tried', { skip }, async (t) => {
  const { page } = await openConsole(t, browser);
  await page.route('**/api/auth/login', (route) =>
    route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, body: '{"error":"Too many logins"}' }),
  );
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'admin');
  await page.getByText('Too many attempts. Try again in 2 s.').waitFor();
  await page.getByText('Too many attempts. Try again in 1 s.').waitFor();
  await page.unrouteAll();
  await page.getByText('Too many attempts').waitFor({ state: 'detached' });
  await fillLogin(page, 'admin');
  await page.getByRole('button', { name: 'admin, Admin' }).waitFor();
});

test('the console can be used with the keyboard alone', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser);
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'MAIN');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await heading('Alerts');
  await page.keyboard.press('/');
  await page.keyboard.type('g o disk');
  assert.equal(await page.getByLabel('Message contains').inputValue(), 'g o disk');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Message contains').inputValue(), '');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type to search' }).pressSequentially('overv');
  await page.getByRole('option', { name: 'Go to Overview' }).waitFor();
  await page.keyboard.press('Enter');
  await heading('Overview');
  await page.keyboard.press('?');
  await page.getByLabel('Use single-key shortcuts').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await heading('Overview');
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.deepEqual(complaints, []);
});

test('the start, the login dialog, the palette and the help have no accessibility faults', { skip }, async (t) => {
  const { page } = await openConsole(t, browser);
  assert.deepEqual(await findFaults(page), []);
  for (const open of [
    () => page.getByRole('banner').getByRole('button', { name: 'Log in' }).click(),
    () => page.keyboard.press('Control+k'),
    () => page.keyboard.press('?'),
  ]) {
    await open();
    await page.getByRole('dialog').waitFor();
    assert.deepEqual(await findFaults(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
});

test('a response of the wrong shape is reported with its route, and the rest goes on', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { hash: '#/nowhere' });
  await page.route('**/api/processes*', (route) => route.fulfill({ body: '{"data":[{"name":"init"}]}' }));
  await page.goto('/console/#/');
  await page.getByRole('alert').getByText('GET /api/processes').waitFor();
  await page.getByRole('heading', { name: 'Latest alerts' }).waitFor();
  await page.unrouteAll();
  // The next reading, some seconds later, may come before the click.
  const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
  await Promise.any([retry.click(), retry.waitFor({ state: 'detached' })]);
  await page.getByRole('columnheader', { name: 'PID' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('a login that a screen needs is asked for on the screen', { skip }, async (t) => {
  const { page } = await openConsole(t, browser, { settings: { alertsAuth: 'bearer' }, hash: '#/alerts' });
  await page.getByText('Log in to see this').waitFor();
  await logIn(page, 'reader');
  await page.getByText('No alerts yet').waitFor();
});

test('a server whose open routes others can reach says so on every screen', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { settings: { trustProxy: ['127.0.0.1'] } });
  const warning = page.getByRole('note').getByText(/paths need no token\. Set access to "login"/);
  await warning.waitFor();
  assert.deepEqual(await findFaults(page), []);
  await page.goto('/console/#/tasks');
  await warning.waitFor();
  await page.setViewportSize({ width: 360, height: 640 });
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  assert.deepEqual(complaints, []);

  const closed = await openConsole(t, browser, { settings: { trustProxy: ['127.0.0.1'], access: 'login' } });
  assert.equal(await closed.page.getByRole('note').count(), 0);
});

test('with access login every screen asks for a login and works after it', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { settings: { access: 'login' }, hash: '#/tasks' });
  await page.getByText('Log in to see this').first().waitFor();
  await logIn(page, 'reader');
  await page.getByText('No tasks yet').first().waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  for (const [hash, heading] of [
    ['#/', 'Latest alerts'],
    ['#/alerts', 'Alerts'],
    ['#/items', 'Items'],
  ] as const) {
    await page.goto(`/console/${hash}`);
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
    await waitUntilLoaded(page);
    assert.equal(await page.getByText('Log in to see this').count(), 0, hash);
    assert.equal(await page.getByRole('alert').count(), 0, hash);
  }
  assert.deepEqual(
    complaints.filter((text) => !text.includes('401')),
    [],
  );
});

test('the palette logs in and out, and offers no login where there is none', { skip }, async (t) => {
  const { page } = await openConsole(t, browser);
  const options = page.getByRole('dialog').getByRole('option');
  const run = async (name: string) => {
    await page.keyboard.press('Control+k');
    await options.getByText(name, { exact: true }).click();
  };
  await run('Log in');
  await fillLogin(page, 'reader');
  await page.getByRole('button', { name: 'reader, Reader' }).waitFor();
  await run('Log out');
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).waitFor();

  const without = await openConsole(t, browser, { settings: { profiles: ['tasks'] } });
  await without.page.keyboard.press('Control+k');
  await without.page.getByRole('option', { name: 'Go to Tasks' }).waitFor();
  assert.equal(await without.page.getByRole('option', { name: 'Log in' }).count(), 0);
});

test('a server without readings is not called healthy', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { settings: { profiles: ['tasks'] } });
  await page.getByText('so nothing says how it is').waitFor();
  assert.equal(await page.getByRole('button', { name: '24 h' }).count(), 0);
  assert.deepEqual(complaints, []);
});

test('the console works in a browser that allows no storage', { skip }, async (t) => {
  const { page, complaints } = await openConsole(t, browser, { hash: '#/tasks' });
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`);
  await page.reload();
  await page.getByRole('banner').getByRole('button', { name: /Theme/ }).click();
  await page.getByRole('button', { name: 'Theme: Light theme' }).waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await page.getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('the console works below a path of a proxy, and says so where its scripts are refused', { skip }, async (t) => {
  const app = await startApp(t);
  const below = (url: string): string => url.replace('/below/', '/');
  const { page } = await openConsole(t, browser, { app, hash: '#/nowhere' });
  await page.context().route('**/below/**', async (route) => {
    const response = await route.fetch({ url: below(route.request().url()) });
    await route.fulfill({ response });
  });
  await page.goto('/below/console/#/tasks');
  await page.getByText('No tasks yet').waitFor();
  assert.equal(await page.getByText('The scripts of the console cannot be loaded').count(), 0);
  await page.getByRole('button', { name: 'New task' }).click();
  await page.getByLabel('Title', { exact: true }).fill('through the proxy');
  await page.keyboard.press('Enter');
  await page.getByText('Created task 1.').waitFor();
  assert.match(page.url(), /\/below\/console\/#\/tasks$/);

  await page.route('**/*.js', (route) => route.fulfill({ status: 403, body: '' }));
  await page.reload();
  await page.getByText('The scripts of the console cannot be loaded').waitFor();
  // The stream of events has no end, so the proxy is still waiting for it.
  await page.context().unrouteAll({ behavior: 'ignoreErrors' });
});
