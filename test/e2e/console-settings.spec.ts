import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { passwords } from '../support/credentials.ts';
import { createFolder } from '../support/folder.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { test } from './support/console.ts';
import { findFaults, logIn } from './support/page.ts';

/** Settings without accounts, so that the start message contains a link. */
const withoutUsers = { adminPassword: undefined, readerPassword: undefined };

const strong = 'four words make one';

const readLink = (stdout: string): string => /\/console\/(#\/setup\?code=\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout);

test("the start message's link creates the first account once, with the keyboard alone and on a phone", async ({
  startPublished,
  openConsole,
}) => {
  const app = await startPublished({ settings: withoutUsers });
  const hash = readLink(app.output.stdout);
  const { page, complaints } = await openConsole({ app, hash, viewport: { width: 360, height: 740 } });
  await expect(page.getByRole('heading', { level: 1, name: 'Create the first account' })).toBeVisible();
  const password = page.getByLabel('Password', { exact: true });
  await expect(password).toHaveAttribute('autocomplete', 'new-password');
  await page.getByLabel('User name').focus();
  await page.keyboard.type('anna');
  await page.keyboard.press('Tab');
  await page.keyboard.type('password1234');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Password is easily guessed: use several words')).toBeVisible();
  await expect(password).toHaveAttribute('aria-invalid', 'true');
  await expect(password).toBeFocused();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show the password' }).press('Enter');
  await expect(password).toHaveAttribute('type', 'text');
  await page.getByRole('button', { name: 'Hide the password' }).press('Enter');
  await password.fill(strong);
  await password.press('Enter');
  await expect(page.getByText('Welcome, anna.')).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Connect' })).toBeVisible();
  await expect(page.getByRole('banner').getByRole('button', { name: 'anna, Admin' })).toBeVisible();
  await page.goto(`/console/${hash}`);
  await page.getByLabel('User name').fill('ben');
  await password.fill(strong);
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(
    page.getByRole('alert').getByText('The link was already used, or an account exists: log in.'),
  ).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.evaluate('location.hash = "#/"');
  await page.evaluate('location.hash = "#/setup?code=wrong"');
  await page.getByLabel('User name').fill('ben');
  await password.fill(strong);
  await page.getByRole('button', { name: 'Create account' }).click();
  await expect(page.getByText(/restart the server for a new link, or run signalbox create-user\.$/)).toBeVisible();
  await page.evaluate('location.hash = "#/"');
  await page.evaluate('location.hash = "#/setup"');
  await expect(page.getByText('This link is incomplete')).toBeVisible();
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('dialog', { name: 'Log in' })).toBeVisible();
  expect(complaints.filter((each) => !/40[03] \(/.test(each))).toEqual([]);
});

const drawer = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) });

test('users and keys are created, changed and deleted with the keyboard alone, and listed as changes', async ({
  serveApp,
  openConsole,
}) => {
  const key = { name: 'old', sha256: 'a'.repeat(64), scopes: ['metrics:read'] };
  const app = await serveApp({ settings: { access: 'login', keys: [key] } });
  const { page, complaints } = await openConsole({ app, hash: '#/nowhere' });
  await logIn(page, 'admin');
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await expect(page.getByRole('heading', { level: 1, name: 'Settings' })).toBeVisible();
  await expect(row(page, 'admin')).toHaveText(/admin \(you\).*Admin.*From the config file/);
  await row(page, 'admin').getByRole('button', { name: 'admin' }).press('Enter');
  await expect(drawer(page, 'User admin').getByText('Defined in the config file; edit it there.')).toBeVisible();
  await expect(drawer(page, 'User admin').getByRole('button', { name: 'Delete…' })).toHaveCount(0);
  expect(await findFaults(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await findFaults(page)).toEqual([]);

  await page.getByRole('button', { name: 'New user' }).press('Enter');
  const form = page.getByRole('dialog', { name: 'New user' });
  await form.getByLabel('Name').fill('ben');
  await form.getByLabel('Role').selectOption('Admin');
  await form.getByLabel('Password', { exact: true }).fill('short');
  await form.getByLabel('Password', { exact: true }).press('Enter');
  await expect(form.getByRole('alert')).toHaveText('password must have at least 12 characters');
  await form.getByLabel('Password', { exact: true }).fill(strong);
  expect(await findFaults(page)).toEqual([]);
  await form.getByLabel('Password', { exact: true }).press('Enter');
  await expect(row(page, 'ben')).toHaveText(/ben.*Admin.*admin/);

  // Another user changes ben while the form is open.
  await row(page, 'ben').getByRole('button', { name: 'ben' }).press('Enter');
  await drawer(page, 'User ben').getByRole('button', { name: 'Edit…' }).press('Enter');
  const edit = page.getByRole('dialog', { name: 'Edit user ben' });
  const token = await app.login('admin');
  expect((await app.request('PUT', '/api/users/ben', { token, body: { role: 'Reader' } })).status).toBe(200);
  await edit.getByLabel('New password').fill(`${strong} again`);
  await edit.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(edit.getByRole('alert')).toHaveText(/^Somebody else has saved changes in the meantime/);
  await edit.getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect(row(page, 'ben')).toHaveText(/Reader/);
  await row(page, 'ben').getByRole('button', { name: 'ben' }).press('Enter');
  await drawer(page, 'User ben').getByRole('button', { name: 'Delete…' }).press('Enter');
  await page.getByRole('dialog', { name: 'Delete ben?' }).getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(page.getByText('Deleted: ben')).toBeVisible();
  await expect(row(page, 'ben')).toHaveCount(0);

  await page.getByRole('link', { name: 'Keys' }).press('Enter');
  await expect(row(page, 'old')).toHaveText(/metrics:read.*never.*From the config file/);
  await page.getByRole('button', { name: 'New key' }).press('Enter');
  const keyForm = page.getByRole('dialog', { name: 'New key' });
  await keyForm.getByLabel('Name', { exact: true }).fill('grafana');
  await expect(keyForm.getByLabel('Send alerts')).toBeChecked();
  await keyForm.getByLabel('Read metrics').press('Space');
  expect(await findFaults(page)).toEqual([]);
  await keyForm.getByRole('button', { name: 'Create' }).press('Enter');
  const shown = drawer(page, 'Key grafana');
  const shownKey = (await shown.getByText(/^sbk_/).textContent()) ?? '';
  const send = () => app.request('POST', '/api/alert', { token: shownKey, body: { message: 'x' } });
  expect((await send()).status).toBe(200);
  await expect(shown.getByRole('button', { name: 'Copy the key' })).toBeVisible();
  await shown.getByRole('button', { name: 'Done' }).press('Enter');
  await expect(page.getByText(shownKey)).toHaveCount(0);
  await expect(row(page, 'grafana')).toHaveText(/alerts:write, metrics:read/);
  await row(page, 'grafana').getByRole('button', { name: 'grafana' }).press('Enter');
  await drawer(page, 'Key grafana').getByRole('button', { name: 'Delete…' }).press('Enter');
  await page.getByRole('dialog', { name: 'Delete grafana?' }).getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(row(page, 'grafana')).toHaveCount(0);
  expect((await send()).status).toBe(401);

  // Including earlier changes, the list is one entry longer than a page.
  const silence = { match: { source: 'x' }, endsAt: '2100-01-01T00:00:00Z' };
  const add = () => app.request('POST', '/api/silences', { token, body: silence });
  await Promise.all(Array.from({ length: 95 }, add));
  await page.getByRole('link', { name: 'Changes' }).press('Enter');
  const changes = page.getByRole('table', { name: 'Changes' }).getByRole('row');
  await expect(page.getByText('100 changes', { exact: true })).toBeVisible();
  await expect(changes.nth(1)).toHaveText(/admin.*Created.*Silence source x$/);
  expect(await findFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(changes.nth(1)).toHaveText(/^Silence source xCreated · .* · admin$/);
  await page.getByRole('button', { name: 'Load more' }).press('Enter');
  await expect(page.getByText('101 changes', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Load more' })).toHaveCount(0);
  await page.keyboard.press('End');
  await expect(changes.last()).toHaveText(/^User benCreated · .* · admin$/);
  expect(await findFaults(page)).toEqual([]);
  await changes.last().getByRole('link').click();
  await expect(drawer(page, 'User ben')).toBeVisible();
  await page.keyboard.press('Escape');
  // A dialog that closes moves the focus, so an earlier key press on a link can be lost.
  await expect(drawer(page, 'User ben')).toHaveCount(0);
  await page.setViewportSize({ width: 1440, height: 800 });

  await page.getByRole('link', { name: 'Sessions' }).press('Enter');
  const sessions = page.getByRole('table', { name: 'Sessions' });
  await expect(sessions.getByText(/^Chrome \d+, Linux \(this session\)$/)).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Log out everywhere' }).press('Enter');
  await expect(page.getByRole('banner').getByRole('button', { name: 'Log in' })).toBeVisible();
  expect((await app.request('GET', '/api/users', { token })).status).toBe(401);
  // The server ends the stream. The page may reopen it once before it detects the logout.
  const expected = /4(00|12) \(|401 \(.*\/api\/events/;
  expect(complaints.filter((each) => !expected.test(each))).toEqual([]);
});

test('the last administrator cannot be deleted, and a Reader sees every section except users, keys and changes', async ({
  startPublished,
  openConsole,
}) => {
  const app = await startPublished({ settings: { ...withoutUsers, readerPassword: passwords.reader } });
  const [, code = ''] = readLink(app.output.stdout).split('=');
  const body = { code, name: 'anna', password: strong };
  expect((await app.request('POST', '/api/setup', { body })).status).toBe(201);
  const { page } = await openConsole({ app, hash: '#/settings/users?delete=anna' });
  await page.getByRole('main').getByRole('button', { name: 'Log in' }).click();
  const login = page.getByRole('dialog', { name: 'Log in' });
  await login.getByLabel('User name').fill('anna');
  await login.getByLabel('Password').fill(strong);
  await login.getByRole('button', { name: 'Log in' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete anna?' });
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(dialog.getByRole('alert')).toHaveText(/last|Admin/);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('banner').getByRole('button', { name: 'anna, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await logIn(page, 'reader');
  const sections = page.getByRole('navigation', { name: 'Section' });
  await expect(sections.getByRole('link')).toHaveText([
    'Destinations',
    'Intake formats',
    'Escalation policies',
    'Status pages',
    'My contact methods',
    'Sessions',
    'About',
  ]);
  await sections.getByRole('link', { name: 'About' }).click();
  await expect(page.getByText('Running for')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
});

test("a destination is created with its type's fields, tested, changed without its secret, and deleted", async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const { url, requests } = await startReceiver(scope, answer(200));
  const pager = { name: 'pager', type: 'webhook', url };
  const app = await serveApp({ settings: { destinations: [pager], watchTargets: ['127.0.0.1'] } });
  const { page, complaints } = await openConsole({ app, hash: '#/notifications' });
  await logIn(page, 'admin');
  await page.getByRole('link', { name: 'Settings pager' }).click();
  await expect(drawer(page, 'Destination pager').getByText('Defined in the config file; edit it there.')).toBeVisible();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New destination' }).click();
  const form = page.getByRole('dialog', { name: 'New destination' });
  await form.getByLabel('Type').selectOption('Email');
  await expect(form.getByLabel('User name at the mail server')).toBeVisible();
  await form.getByLabel('Type').selectOption('Gotify');
  await expect(form.getByLabel('User name at the mail server')).toHaveCount(0);
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText('Enter a name.');
  await form.getByLabel('Name').fill('pager');
  await form.getByLabel('Address').fill(url);
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText(/config file/);
  const other = { type: 'webhook', url };
  await app.request('PUT', '/api/destinations/other', { token: await app.login('admin'), body: other });
  await form.getByLabel('Name').fill('other');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText('A destination other already exists. Choose another name.');
  await form.getByLabel('Name').fill('desk');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText(/type gotify needs secret/);
  await form.getByLabel('Secret').fill('t0p-secret');
  await form.getByLabel('Levels').selectOption('Error and worse');
  await form.getByText('More settings').click();
  await form.getByLabel('Notify after (minutes)').fill('soon');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText('Notify after (minutes) must be a number.');
  await form.getByLabel('Notify after (minutes)').fill('5');
  expect(await findFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Create' }).click();
  const details = drawer(page, 'Destination desk');
  await details.getByRole('button', { name: 'Send a test' }).click();
  await expect(details.getByText('The receiver accepted the test.')).toBeVisible();
  expect(requests.at(-1)?.headers['x-gotify-key']).toBe('t0p-secret');
  expect(await findFaults(page)).toEqual([]);
  await details.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit destination desk' });
  await expect(edit.getByLabel('Levels')).toHaveValue('CRITICAL,ERROR');
  await edit.getByLabel('Levels').selectOption('Critical only');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(details.getByText('Incident notifications · CRITICAL', { exact: true })).toBeVisible();
  await details.getByRole('button', { name: 'Send a test' }).click();
  await expect(details.getByText('The receiver accepted the test.')).toBeVisible();
  expect(requests.at(-1)?.headers['x-gotify-key']).toBe('t0p-secret');
  const { json } = await app.request('GET', '/api/destinations/desk', { token: await app.login('admin') });
  expect([json['settings'], json['hidden']]).toEqual([
    { type: 'gotify', url: expect.any(String), notify: 'incidents', levels: ['CRITICAL'], after: 5 },
    expect.arrayContaining(['secret']),
  ]);
  await details.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog', { name: 'Delete desk?' }).getByRole('button', { name: 'Delete' }).click();
  await expect(row(page, 'desk')).toHaveCount(0);
  await expect(row(page, 'pager')).toBeVisible();
  expect(complaints.filter((each) => !/4(00|09|12) \(/.test(each))).toEqual([]);
});

test('a status page is created with a time zone, colours and a logo, and keeps them when it is edited', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const { page, complaints } = await openConsole({ app, hash: '#/settings/pages' });
  await logIn(page, 'admin');
  await page.getByRole('button', { name: 'New status page' }).click();
  const form = page.getByRole('dialog', { name: 'New status page' });
  await form.getByLabel('Name').fill('main');
  await form.getByLabel('Title').fill('Example');
  await form.getByLabel('Groups').fill('Shop = watch shop');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText('Not a group or a check: Shop = watch shop');
  await form.getByLabel('Groups').fill('# Services\nShop = watch shop');
  await form.getByText('More settings').click();
  await form.getByLabel('Time zone').fill('Europe/Berlin');
  await form.getByLabel('Colour', { exact: true }).fill('#204080');
  const logo = form.getByLabel('Logo');
  await logo.setInputFiles({ name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(80_000) });
  await expect(form.getByText('The file is larger than 70 kB.')).toBeVisible();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>';
  await logo.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) });
  await expect(form.getByText('The page has a logo.')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Create' }).click();
  const details = drawer(page, 'Status page main');
  await details.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit status page main' });
  await edit.getByLabel('Title').fill('Example status');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(details.getByText('Example status')).toBeVisible();
  const { json } = await app.request('GET', '/api/status-pages/main', { token: await app.login('admin') });
  expect([json['timeZone'], json['colours'], json['logo']]).toEqual([
    'Europe/Berlin',
    { accent: '#204080' },
    `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
  ]);
  await details.getByRole('button', { name: 'Edit…' }).click();
  await edit.getByText('More settings').click();
  await edit.getByRole('button', { name: 'Remove the logo' }).click();
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(edit).toHaveCount(0);
  expect((await app.request('GET', '/status/main/logo')).status).toBe(404);
  expect(complaints).toEqual([]);
});

test('an edit of a destination keeps settings without a field and the exact values of unchanged fields', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const token = await app.login('admin');
  const settings = {
    type: 'template',
    url: 'http://127.0.0.1:9',
    body: '{"text":"{message}"}\n',
    notify: 'alerts',
    sources: ['backup, nightly'],
    giveUpHours: 2,
  };
  expect((await app.request('PUT', '/api/destinations/desk', { token, body: settings })).status).toBe(201);
  const { page, complaints } = await openConsole({ app, hash: '#/settings/destinations' });
  await logIn(page, 'admin');
  await row(page, 'desk').getByRole('button', { name: 'desk' }).click();
  const details = drawer(page, 'Destination desk');
  await details.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit destination desk' });
  await edit.getByLabel('Levels').selectOption('Critical only');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(details.getByText(/CRITICAL/)).toBeVisible();
  const { json } = await app.request('GET', '/api/destinations/desk', { token });
  expect(json['settings']).toEqual({ ...settings, levels: ['CRITICAL'] });
  expect(complaints).toEqual([]);
});

test('an intake format is tested on a pasted body, created, changed and deleted', async ({ serveApp, openConsole }) => {
  const app = await serveApp({ settings: { intake: [{ name: 'configured', message: '{/text}' }] } });
  const { page, complaints } = await openConsole({ app, hash: '#/settings/formats' });
  await logIn(page, 'admin');
  await expect(row(page, 'configured')).toHaveText(/From the config file/);
  await page.getByRole('button', { name: 'New format' }).click();
  const form = page.getByRole('dialog', { name: 'New format' });
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText('Enter a name.');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New format' }).click();
  await form.getByLabel('Name').fill('builds');
  await form.getByLabel('Test body').fill('{"id": 7');
  await form.getByRole('button', { name: 'Test format' }).click();
  await expect(form.getByRole('alert')).toHaveText('Test body must be JSON.');
  await form
    .getByLabel('Test body')
    .fill(
      `{"id": 7, "status": "failed", "project": {"name": "<b>shop</b>"}, "url": "https://ci.example.org/${'x'.repeat(300)}"}`,
    );
  await form.getByRole('button', { name: 'Test format' }).click();
  await expect(form.getByText('1 alert would be stored.')).toBeVisible();
  await expect(form.getByText('"source": "builds/<b>shop</b>"')).toBeVisible();
  expect(await form.evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth)).toBeLessThanOrEqual(0);
  expect(await findFaults(page)).toEqual([]);
  await form.getByLabel('Definition').fill('{"message": "{id}"}');
  await form.getByRole('button', { name: 'Create' }).click();
  await expect(form.getByRole('alert')).toHaveText(/is not a JSON Pointer/);
  await form.getByLabel('Definition').fill('{"message": "Build {/id}"}');
  await form.getByRole('button', { name: 'Create' }).click();
  const details = drawer(page, 'Intake format builds');
  await details.getByLabel('Test body').fill('{"id": 8}');
  await details.getByRole('button', { name: 'Test format' }).click();
  await expect(details.getByText('"message": "Build 8"')).toBeVisible();
  expect((await app.request('GET', '/api/alerts')).json['count']).toBe(0);
  expect(await findFaults(page)).toEqual([]);
  await details.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit format builds' });
  await edit.getByLabel('Definition').fill('{"message": "{/text}"}');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(details).toBeVisible();
  expect((await app.request('POST', '/api/alert/builds', { body: { text: 'It failed' } })).status).toBe(200);
  await details.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog', { name: 'Delete builds?' }).getByRole('button', { name: 'Delete' }).click();
  await expect(row(page, 'builds')).toHaveCount(0);
  expect((await app.request('POST', '/api/alert/builds', { body: {} })).status).toBe(404);
  expect(complaints.filter((each) => !/400 \(/.test(each))).toEqual([]);
});

test("About shows the server's version, and licences on request; only administrators see the data folder", async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({ settings: { store: 'file' } });
  const { page, complaints } = await openConsole({ app, hash: '#/settings/about' });
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  await logIn(page, 'reader');
  const facts = page.getByRole('main').locator('dl');
  await expect(facts).toContainText(
    /Version\d+\.\d+\.\d+.*Running for.*Store of tasks and itemsfiles.*Free space.*iB/s,
  );
  await expect(facts).not.toContainText(app.folder);
  await page.getByRole('banner').getByRole('button', { name: 'reader, Reader' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await logIn(page, 'admin');
  await expect(facts).toContainText(`Data folder${app.folder}/data`);
  expect(requests.filter((path) => path.endsWith('licences'))).toEqual([]);
  await page.getByText('Library licences').press('Enter');
  await expect(page.getByText(/^signalbox includes \d+ libraries\.$/)).toBeVisible();
  const fastify = page.getByRole('group').filter({ hasText: /^fastify \d/ });
  await fastify.getByText('MIT', { exact: true }).click();
  await expect(fastify.getByText('The Fastify team')).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a key unused for 90 days is marked in the list and in its details, on a phone too', async ({
  scope,
  startPublished,
  openConsole,
}) => {
  const day = 24 * 60 * 60_000;
  const toKey = (name: string, digit: string) => ({ name, sha256: digit.repeat(64), scopes: ['alerts:read'] });
  // Times of use are stored under the first digits of the key's hash.
  const uses = [
    ['a'.repeat(16), Date.now() - 300 * day, Date.now() - 91 * day],
    ['b'.repeat(16), Date.now() - 300 * day, Date.now() - 89 * day],
  ];
  const folder = createFolder(scope);
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  writeFileSync(join(folder, 'data', 'keys.used'), JSON.stringify(uses), { mode: 0o600 });
  const app = await startPublished({ folder, settings: { keys: [toKey('forgotten', 'a'), toKey('rare', 'b')] } });
  const { page } = await openConsole({ app, hash: '#/settings/keys' });
  await logIn(page, 'admin');
  await expect(row(page, 'forgotten')).toContainText('Unused for 90 days');
  await expect(row(page, 'rare')).not.toContainText('Unused');
  expect(await findFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect(page.getByText('Unused for 90 days')).toHaveCount(1);
  await page.getByRole('button', { name: 'forgotten', exact: true }).click();
  await expect(drawer(page, 'Key forgotten')).toContainText(/Last use.*20\d\d.*Unused for 90 days: delete the key/s);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'rare', exact: true }).click();
  await expect(drawer(page, 'Key rare')).not.toContainText('Unused');
});

test('a Reader who changes their password stays logged in here, and is logged out elsewhere', async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp({ settings: { access: 'login' } });
  const body = { name: 'ben', role: 'Reader', password: strong };
  expect((await app.request('POST', '/api/users', { token: await app.login('admin'), body })).status).toBe(201);
  const logInAsBen = (password: string) =>
    app.request<{ token: string }>('POST', '/api/auth/login', { body: { Username: 'ben', Password: password } });
  const elsewhere = (await logInAsBen(strong)).json.token;
  const { page } = await openConsole({ app, hash: '#/settings/sessions' });
  await logIn(page, 'reader');
  await expect(page.getByText('Your password is defined in the config file; edit it there.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Change password' })).toHaveCount(0);
  await page.getByRole('banner').getByRole('button', { name: 'reader, Reader' }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  const login = page.getByRole('dialog', { name: 'Log in' });
  await login.getByLabel('User name').fill('ben');
  await login.getByLabel('Password').fill(strong);
  await login.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Change password' }).click();
  const form = page.getByRole('dialog', { name: 'Change password' });
  const next = `${strong} again`;
  await form.getByLabel('Current password').fill('a wrong one');
  await form.getByLabel('New password').fill(next);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toHaveText('The current password is wrong.');
  await form.getByLabel('Current password').fill(strong);
  await form.getByLabel('New password').fill('short');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByRole('alert')).toHaveText('password must have at least 12 characters');
  expect(await findFaults(page)).toEqual([]);
  await form.getByLabel('New password').fill(next);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Password changed. Your other sessions are logged out.')).toBeVisible();
  await expect(form).toHaveCount(0);
  await expect(page.getByRole('banner').getByRole('button', { name: 'ben, Reader' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Sessions' }).getByText('(this session)')).toBeVisible();
  expect((await app.request('GET', '/api/account', { token: elsewhere })).status).toBe(401);
  expect([(await logInAsBen(strong)).status, (await logInAsBen(next)).status]).toEqual([401, 200]);
});
