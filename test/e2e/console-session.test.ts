import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { sendAlert } from '../support/alerts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { processName } from '../support/process-name.ts';
import { type Change, startProxy } from '../support/proxy.ts';
import { createClaims, signToken } from '../support/tokens.ts';
import { openBrowser, toSkip } from './browser.ts';
import { fillLogin, logIn, openConsole, waitUntilLoaded } from './console.ts';

const browser = await openBrowser();
const skip = toSkip(browser);
after(() => browser?.close());

/** Replaces the first login's token by one that the server accepts for some seconds only. */
const shorten = (seconds: number, expiresIn: number): Change => {
  let isFirst = true;
  return (_, path, body) => {
    if (!path.endsWith('/api/auth/login') || !isFirst) return undefined;
    isFirst = false;
    const token = signToken(createClaims({ exp: Math.floor(Date.now() / 1000) + seconds }));
    return JSON.stringify({ ...JSON.parse(body), token, expiresIn });
  };
};

const loginButton = (page: Page) => page.getByRole('banner').getByRole('button', { name: 'Log in' });

/** Types so slowly that the session ends meanwhile. */
const typeUntilExpired = async (page: Page, text: string): Promise<void> => {
  for (const letter of text) await page.keyboard.type(letter, { delay: 200 });
  await loginButton(page).waitFor();
};

test('a session that expires while the user types loses nothing, and the action goes on after a login', {
  skip,
}, async (t) => {
  const app = await startApp(t);
  const baseURL = await startProxy(t, app.url, shorten(4, 4));
  const { page, complaints } = await openConsole(t, browser, { app, baseURL, hash: '#/commands/Get-Process' });
  await logIn(page, 'admin');
  const field = page.getByLabel('Name', { exact: true });
  await field.focus();
  await typeUntilExpired(page, `${processName}, no such process`);
  await page.keyboard.type('*');
  assert.equal(await field.inputValue(), `${processName}, no such process*`);
  await page.keyboard.press('Enter');
  await page.getByText('Your session has expired. Log in to continue; nothing you typed is lost.').waitFor();
  assert.equal(await field.inputValue(), `${processName}, no such process*`);
  await fillLogin(page, 'admin');
  await page.getByRole('table', { name: 'Result' }).getByText(processName).first().waitFor();
  assert.equal(await field.inputValue(), `${processName}, no such process*`);
  assert.deepEqual(complaints, []);
});

test('a token that the server refuses earlier than expected loses nothing either', { skip }, async (t) => {
  const app = await startApp(t);
  const baseURL = await startProxy(t, app.url, shorten(2, 3600));
  const { page } = await openConsole(t, browser, { app, baseURL, hash: '#/commands/Get-Process' });
  await logIn(page, 'admin');
  const field = page.getByLabel('Name', { exact: true });
  await field.fill(processName);
  await page.waitForTimeout(3500);
  await page.keyboard.press('Enter');
  await page.getByText('Your session has expired.').waitFor();
  await fillLogin(page, 'admin');
  await page.getByRole('table', { name: 'Result' }).getByText(processName).first().waitFor();
  assert.equal(await field.inputValue(), processName);
});

test('the form of a new task stays as it is when the session ends', { skip }, async (t) => {
  const app = await startApp(t);
  const baseURL = await startProxy(t, app.url, shorten(3, 3));
  const { page, complaints } = await openConsole(t, browser, { app, baseURL });
  await logIn(page, 'admin');
  await page.goto(`${baseURL}/console/#/tasks/new`);
  await page.getByLabel('Title', { exact: true }).focus();
  await typeUntilExpired(page, 'Check the backups');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Check the backups', exact: true }).waitFor();
  assert.deepEqual(complaints, []);
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

test('a response of the wrong shape is an error that names the route, on every screen', { skip }, async (t) => {
  const app = await startApp(t);
  let changed: [route: string, body: string] | undefined;
  const baseURL = await startProxy(t, app.url, (method, path) =>
    changed && changed[0] === `${method} ${path.split('?')[0]}` ? changed[1] : undefined,
  );
  const { page, complaints } = await openConsole(t, browser, { app, baseURL, hash: '#/nowhere' });
  await logIn(page, 'admin');
  for (const [hash, route, body] of wrong) {
    await page.evaluate('location.hash = "#/nowhere"');
    await page.getByRole('heading', { name: 'There is no such screen' }).waitFor();
    changed = [route, body];
    await page.evaluate(`location.hash = '${hash}'`);
    await page.getByText(`The response of ${route} does not have the expected shape`).first().waitFor();
    assert.notEqual(await page.getByRole('heading', { level: 1 }).textContent(), '');
    changed = undefined;
  }
  changed = ['GET /openapi.json', '{}'];
  await page.reload();
  await page.getByText('The response of GET /openapi.json does not have the expected shape').waitFor();
  changed = undefined;
  await page.getByRole('heading', { name: 'Simple tasks' }).waitFor();
  assert.deepEqual(complaints, []);
});

/** Everything that the browser keeps, and where it has been. */
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

const useEverything = async (page: Page, app: TestApp): Promise<void> => {
  await sendAlert(app, { level: 'ERROR' });
  for (const name of ['Tasks', 'Alerts', 'Processes', 'Commands', 'Audit', 'Deliveries', 'Items', 'Overview']) {
    await page.keyboard.press('g');
    await page.keyboard.press(name === 'Audit' ? 'u' : name.charAt(0).toLowerCase());
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await waitUntilLoaded(page);
  }
};

test('no token is in an address, the log or a storage unless the user chose that', { skip }, async (t) => {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const app = await startApp(t, { log, settings: { destinations: [] } });
  const { page, complaints } = await openConsole(t, browser, { app });
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await logIn(page, 'admin');
  await useEverything(page, app);
  assert.doesNotMatch(await readKept(page), /eyJ|signalbox-session/);
  await page.getByRole('banner').getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await loginButton(page).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await useEverything(page, app);
  const { session, ...others } = JSON.parse(await readKept(page));
  assert.match(JSON.stringify(session), /eyJ/);
  assert.doesNotMatch(JSON.stringify(others), /eyJ/);
  assert.doesNotMatch(addresses.join('\n'), /eyJ|correct/);
  assert.doesNotMatch(lines.join(''), /eyJ|correct horse/);
  assert.ok(
    lines.some((line) => line.includes('/api/tasks')),
    'the log has the requests',
  );
  assert.deepEqual(complaints, []);
});
