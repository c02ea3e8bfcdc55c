import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { passwords } from '../support/app.ts';
import { openBrowser, toSkip } from './browser.ts';
import { fillLogin, findFaults } from './console.ts';
import { openDocs } from './docs-page.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

const openItems = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Try it GET /api/items' }).click();
};

const sendItems = (page: Page): Promise<void> => page.getByRole('button', { name: 'Send GET /api/items' }).click();

const readStorage = (page: Page): Promise<string | null> =>
  page.evaluate('sessionStorage.getItem("signalbox-session")');

test('a route that needs a token offers the login, and is then sent with the token', { skip }, async (t) => {
  const { page, complaints } = await openDocs(t, browser, { hash: '#listItems' });
  const urls: string[] = [];
  page.on('request', (request) => urls.push(request.url()));
  await openItems(page);
  const form = page.getByRole('form', { name: 'Try GET /api/items' });
  await form.getByText('Needs a token.').waitFor();
  await form.getByRole('button', { name: 'Log in' }).press('Enter');
  const login = page.waitForResponse('**/api/auth/login');
  await fillLogin(page, 'reader');
  const { token } = await (await login).json();
  await form.getByText('Sent with the token of reader (Reader).').waitFor();
  assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^Send/);
  await page.keyboard.press('Enter');
  await page.getByText(/^200 OK/).waitFor();
  const call = page.getByRole('region', { name: 'Call of GET /api/items' });
  assert.match((await call.textContent()) ?? '', /Bearer \$TOKEN/);
  assert.ok(token.length > 100 && !(await page.content()).includes(token));
  assert.deepEqual(
    urls.filter((url) => url.includes(token)),
    [],
  );
  assert.equal(await readStorage(page), null);
  await page.reload();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('a session kept on request continues in the console and back here, until it is ended', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await page.getByText('Logged in as admin (Admin)').waitFor();
  await page.goto('/console/');
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).waitFor();
  await page.goto('/docs/');
  await page.getByText('Logged in as admin (Admin)').waitFor();
  await page.getByRole('button', { name: 'Log out' }).press('Enter');
  assert.match(await page.evaluate<string>('document.activeElement.textContent'), /^Log in/);
  assert.equal(await readStorage(page), null);
});

test('a wrong password is reported in the dialog, which keeps the user name', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'admin', 'wrong');
  const dialog = page.getByRole('dialog', { name: 'Log in' });
  await dialog.getByRole('alert').getByText('Invalid password').waitFor();
  assert.equal(await dialog.getByLabel('User name').inputValue(), 'admin');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  assert.equal(await dialog.getByLabel('Password').inputValue(), '');
});

test('a session whose token is refused ends', { skip }, async (t) => {
  const { page, app } = await openDocs(t, browser, { hash: '#listItems' });
  const token = await app.login('admin');
  const session = { name: 'admin', role: 'Admin', token: `${token}x`, expiresAt: Date.now() + 60_000 };
  await page.evaluate(`sessionStorage.setItem('signalbox-session', '${JSON.stringify(session)}')`);
  await page.reload();
  await page.getByText('Logged in as admin').waitFor();
  await openItems(page);
  await sendItems(page);
  await page.getByText(/^401 Unauthorized/).waitFor();
  await page.getByRole('form', { name: 'Try GET /api/items' }).getByText('Needs a token.').waitFor();
  assert.equal(await readStorage(page), null);
});

test('a session ends when its token expires', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  const session = { name: 'admin', role: 'Admin', token: 'x', expiresAt: Date.now() + 1500 };
  await page.evaluate(`sessionStorage.setItem('signalbox-session', '${JSON.stringify(session)}')`);
  await page.reload();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).waitFor();
  assert.equal(await readStorage(page), null);
});

test('a pasted token is used and never stored', { skip }, async (t) => {
  const { page, app } = await openDocs(t, browser, { hash: '#listItems' });
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  const dialog = page.getByRole('dialog', { name: 'Log in' });
  await dialog.getByLabel('Token or key').fill(await app.login('reader'));
  await dialog.getByLabel('Token or key').press('Enter');
  await page.getByText('Using a pasted token or key').waitFor();
  await openItems(page);
  await sendItems(page);
  await page.getByText(/^200 OK/).waitFor();
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
});

test('the hint of an Admin route says that the role of a reader is not enough', { skip }, async (t) => {
  const { page } = await openDocs(t, browser, { hash: '#runCommand' });
  await page.getByRole('button', { name: 'Try it POST /api/execute' }).click();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'reader');
  await page.getByText('Sent with the token of reader (Reader). This route needs the role Admin.').waitFor();
});

test('without the login profile the dialog offers only a token, and without protected routes there is no dialog', {
  skip,
}, async (t) => {
  const mounts = { '/ops': ['monitoring', 'metrics'] };
  const { page } = await openDocs(t, browser, { settings: { mounts, metricsAuth: 'bearer', console: false } });
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  const dialog = page.getByRole('dialog', { name: 'Log in' });
  await dialog.getByLabel('Token or key').waitFor();
  assert.equal(await dialog.getByLabel('User name').isVisible(), false);
  const open = await openDocs(t, browser, { settings: { mounts }, hash: '#getHealthAtOps' });
  await open.page.getByRole('button', { name: 'Try it GET /ops/api/health' }).click();
  await open.page.getByRole('button', { name: 'Send GET /ops/api/health' }).click();
  await open.page.getByText(/^200 OK/).waitFor();
  assert.equal(await open.page.getByRole('button', { name: 'Log in' }).count(), 0);
});

test('axe finds no violation in the login dialog, at three widths in light and dark', { skip }, async (t) => {
  const { page } = await openDocs(t, browser);
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('dialog').getByLabel('Password').fill(passwords.admin);
  assert.deepEqual(await findFaults(page), []);
});

test('the page logs in and out in a browser that allows no storage', { skip }, async (t) => {
  const { page, complaints } = await openDocs(t, browser, { hash: '#listItems' });
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`);
  await page.reload();
  await openItems(page);
  const form = page.getByRole('form', { name: 'Try GET /api/items' });
  await form.getByRole('button', { name: 'Log in' }).press('Enter');
  await fillLogin(page, 'reader');
  await form.getByText('Sent with the token of reader (Reader).').waitFor();
  await page.getByRole('banner').getByRole('button', { name: 'Log out' }).click();
  await form.getByText('Needs a token.').waitFor();
  assert.deepEqual(complaints, []);
});
