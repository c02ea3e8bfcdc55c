import { expect, type Page } from '@playwright/test';
import { processName } from '../support/process-name.ts';
import { type Change, startProxy } from '../support/proxy.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { sendAlert, type TestApp } from './support/app.ts';
import { test } from './support/console.ts';
import { fillLogin, logIn, waitUntilLoaded } from './support/page.ts';

/** Replaces the token of the first login with a token that expires after a few seconds. */
const shorten = (seconds: number, expiresIn = seconds, onToken = (_: string) => {}): Change => {
  let isFirst = true;
  return (_, path, body) => {
    if (!path.endsWith('/api/auth/login') || !isFirst) return undefined;
    isFirst = false;
    const token = signToken(createClaims({ exp: Math.floor(Date.now() / 1000) + seconds }));
    onToken(token);
    return JSON.stringify({ ...JSON.parse(body), token, expiresIn });
  };
};

const loginButton = (page: Page) => page.getByRole('banner').getByRole('button', { name: 'Log in' });

/** Types so slowly that the session expires. */
const typeUntilExpired = async (page: Page, text: string): Promise<void> => {
  for (const letter of text) await page.keyboard.type(letter, { delay: 150 });
  await expect(loginButton(page)).toBeVisible();
};

test('a session that expires while the user types loses no input, and the action continues after a login', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const baseURL = await startProxy(scope, app.url, shorten(3));
  const { page, complaints } = await openConsole({ app, baseURL, hash: '#/commands/Get-Process' });
  await logIn(page, 'admin');
  const field = page.getByLabel('Name', { exact: true });
  await field.focus();
  await typeUntilExpired(page, `${processName}, no such process`);
  await page.keyboard.type('*');
  await expect(field).toHaveValue(`${processName}, no such process*`);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Your session has expired. Log in to continue; your input is kept.')).toBeVisible();
  await expect(field).toHaveValue(`${processName}, no such process*`);
  await fillLogin(page, 'admin');
  await expect(page.getByRole('table', { name: 'Result' }).getByText(processName).first()).toBeVisible();
  await expect(field).toHaveValue(`${processName}, no such process*`);
  expect(complaints).toEqual([]);
});

test('a token that is refused before its expiry loses no input', async ({ scope, serveApp, openConsole }) => {
  const app = await serveApp();
  let token = '';
  const change = shorten(2, 3600, (issued) => {
    token = issued;
  });
  const baseURL = await startProxy(scope, app.url, change);
  const { page } = await openConsole({ app, baseURL, hash: '#/commands/Get-Process' });
  await logIn(page, 'admin');
  const field = page.getByLabel('Name', { exact: true });
  await field.fill(processName);
  await expect.poll(async () => (await app.request('GET', '/api/items', { token })).status).toBe(401);
  await page.keyboard.press('Enter');
  await expect(page.getByText('Your session has expired.')).toBeVisible();
  await fillLogin(page, 'admin');
  await expect(page.getByRole('table', { name: 'Result' }).getByText(processName).first()).toBeVisible();
  await expect(field).toHaveValue(processName);
});

test('the form for a new task keeps its input when the session ends', async ({ scope, serveApp, openConsole }) => {
  const app = await serveApp();
  const baseURL = await startProxy(scope, app.url, shorten(3));
  const { page, complaints } = await openConsole({ app, baseURL, hash: '#/nowhere' });
  await logIn(page, 'admin');
  await page.goto(`${baseURL}/console/#/tasks/new`);
  await page.getByLabel('Title', { exact: true }).focus();
  await typeUntilExpired(page, 'Check the backups');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Check the backups', exact: true })).toBeVisible();
  expect(complaints).toEqual([]);
});

const wrong: [hash: string, route: string, body: string][] = [
  ['#/', 'GET /api/history', '{"times":"now"}'],
  ['#/', 'GET /api/info', '[]'],
  ['#/tasks', 'GET /api/tasks', '{"total":1,"data":[{"Id":"x"}]}'],
  ['#/alerts', 'GET /api/alerts/search', 'null'],
  ['#/alerts', 'GET /api/alerts/histogram', '{"buckets":{}}'],
  ['#/commands', 'GET /api/commands', '[]'],
  ['#/audit', 'GET /api/executions', '<html>'],
  ['#/items', 'GET /api/items', '"text"'],
  ['#/simple-tasks', 'GET /simple/api/tasks', '{}'],
];

test('a malformed response causes an error that names the route on every screen', async ({
  scope,
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  let changed: [route: string, body: string] | undefined;
  const baseURL = await startProxy(scope, app.url, (method, path) =>
    changed && changed[0] === `${method} ${path.split('?')[0]}` ? changed[1] : undefined,
  );
  const { page, complaints } = await openConsole({ app, baseURL, hash: '#/nowhere' });
  await logIn(page, 'admin');
  for (const [hash, route, body] of wrong) {
    await page.evaluate('location.hash = "#/nowhere"');
    await expect(page.getByRole('heading', { name: 'Screen not found' })).toBeVisible();
    changed = [route, body];
    await page.evaluate(`location.hash = '${hash}'`);
    await expect(page.getByText(`The response of ${route} has an unexpected format`).first()).toBeVisible();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toBe('');
    changed = undefined;
  }
  expect(complaints).toEqual([]);
});

/** Reads everything that the browser stores, and also the address, the history state and the requested URLs. */
const readKept = (page: Page): Promise<string> =>
  page.evaluate(`(async () => JSON.stringify({
    local: { ...localStorage },
    session: { ...sessionStorage },
    databases: await indexedDB.databases(),
    caches: await caches.keys(),
    cookies: document.cookie,
    address: location.href,
    state: history.state,
    requests: performance.getEntriesByType('resource').map(({ name }) => name),
  }))()`);

const keys: Record<string, string> = { Audit: 'u', Heartbeats: 'b', Notifications: 'd', Silences: 'q' };

const useEverything = async (page: Page, app: TestApp): Promise<void> => {
  await sendAlert(app, { level: 'ERROR' });
  for (const name of [
    'Tasks',
    'Alerts',
    'Watches',
    'Heartbeats',
    'Silences',
    'Processes',
    'Commands',
    'Audit',
    'Notifications',
    'Items',
    'Overview',
  ]) {
    await page.keyboard.press('g');
    await page.keyboard.press(keys[name] ?? name.charAt(0).toLowerCase());
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await waitUntilLoaded(page);
  }
};

test('addresses, logs and browser storage contain no token unless the user chooses to store it', async ({
  startPublished,
  openConsole,
}) => {
  const app = await startPublished({ settings: { destinations: [], logLevel: 'debug' } });
  const { page, complaints } = await openConsole({ app });
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await logIn(page, 'admin');
  await useEverything(page, app);
  expect(await readKept(page)).not.toMatch(/eyJ|signalbox-session/);
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await loginButton(page).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await useEverything(page, app);
  const { session, ...others } = JSON.parse(await readKept(page));
  expect(JSON.stringify(session)).toMatch(/eyJ/);
  expect(JSON.stringify(others)).not.toMatch(/eyJ/);
  expect(addresses.join('\n')).not.toMatch(/eyJ|correct/);
  const log = app.output.stdout + app.output.stderr;
  expect(log).not.toMatch(/eyJ|correct horse/);
  expect(log, 'the log has the requests').toContain('/api/tasks');
  expect(complaints).toEqual([]);
});

test('a session is renewed while the page is in use, and ends otherwise', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ hasClock: true });
  await logIn(page, 'admin');
  const user = page.getByRole('banner').getByRole('button', { name: 'admin, Admin' });
  const minutes = (count: number) => page.clock.fastForward(count * 60_000);
  await minutes(40);
  const renewed = page.waitForResponse(/\/api\/sessions\/renew$/);
  await page.keyboard.press('Shift');
  expect((await renewed).status()).toBe(200);
  await minutes(40);
  await expect(user).toBeVisible();
  await minutes(21);
  await expect(loginButton(page)).toBeVisible();
  expect(complaints).toEqual([]);
});
