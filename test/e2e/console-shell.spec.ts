import { expect } from '@playwright/test';
import { test } from './support/console.ts';
import { fillLogin, findFaults, logIn, waitUntilLoaded } from './support/page.ts';

test("the console's navigation shows only screens of mounted profiles", async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ settings: { profiles: ['items'] } });
  const links = page.getByRole('navigation').getByRole('link');
  expect((await links.allTextContents()).includes('Overview')).toBeTruthy();
  await expect(page.getByRole('link', { name: 'Alerts' })).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('the first screen does not wait for the OpenAPI document', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
  // Never answered.
  await page.route('**/openapi.json', () => {});
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await waitUntilLoaded(page);
  const early = await page.evaluate(`(() => {
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    const requests = performance.getEntriesByType('resource').filter(({ startTime }) => startTime < paint.startTime);
    return requests.map(({ name }) => new URL(name).pathname);
  })()`);
  expect(early).toContainEqual(expect.stringMatching(/^\/console\/main-.*\.js$/));
  expect(early).not.toContain('/openapi.json');
  expect(complaints).toEqual([]);
});

test('the navigation groups screens by purpose, and omits empty lists', async ({ serveApp, openConsole }) => {
  const app = await serveApp();
  const { page, complaints } = await openConsole({ app });
  const navigation = page.getByRole('navigation', { name: 'Screens' });
  for (const group of ['Respond', 'Watch', 'Work', 'Administer']) {
    await expect(navigation.getByText(group, { exact: true })).toBeVisible();
  }
  const links = () => navigation.getByRole('link').allTextContents();
  await expect.poll(links).toContain('Tasks');
  expect(await links()).not.toContain('Simple tasks');
  await app.request('POST', '/simple/api/tasks', { body: { title: 'Get milk' } });
  await page.reload();
  await expect.poll(links).toContain('Simple tasks');
  expect(await links()).not.toContain('Items');
  await page.goto('/console/#/items');
  await expect(navigation.getByRole('link', { name: 'Items' })).toBeVisible();
  expect(complaints).toEqual([]);
});

test("a Reader's navigation contains no screens that the role cannot see", async ({ openConsole }) => {
  const { page } = await openConsole();
  await logIn(page, 'reader');
  const links = page.getByRole('navigation', { name: 'Screens' }).getByRole('link');
  const names = (await links.allTextContents()).filter((name) => name !== 'API reference');
  expect(names).toContain('Incidents');
  for (const missing of ['Audit', 'Commands']) expect(names).not.toContain(missing);
  for (const name of names) {
    await page.getByRole('link', { name, exact: true }).first().click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await waitUntilLoaded(page);
    await expect(page.getByText('Only users with the role Admin have access.')).toHaveCount(0);
  }
});

test('every screen of the console has an address, and its name as the heading', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
  const links = page.getByRole('navigation').getByRole('link').filter({ hasNotText: 'API reference' });
  const names = await links.allTextContents();
  expect(names.includes('Alerts')).toBeTruthy();
  for (const name of names) {
    await page.getByRole('link', { name, exact: true }).first().click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await expect(page).toHaveTitle(`${name} · signalbox`);
  }
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: names.at(-2) ?? '' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: names.at(-2) ?? '' })).toBeVisible();
  await page.goto('/console/#/nowhere');
  await expect(page.getByRole('heading', { name: 'Screen not found' })).toBeVisible();
  expect(complaints).toEqual([]);
});

test("a login's token is stored in memory, and in the tab's storage only if the user chooses", async ({
  openConsole,
}) => {
  const { page } = await openConsole({ hash: '#/nowhere' });
  const stored = (): Promise<string> => page.evaluate('JSON.stringify([sessionStorage, localStorage, location.href])');
  const banner = page.getByRole('banner');
  await banner.getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'admin', 'wrong');
  await expect(page.getByRole('alert').getByText('Invalid password')).toBeVisible();
  await fillLogin(page, 'admin');
  await expect(banner.getByRole('button', { name: 'admin, Admin' })).toBeVisible();
  expect(await stored()).not.toMatch(/eyJ/);
  await page.reload();
  await banner.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.reload();
  await banner.getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(banner.getByRole('button', { name: 'Log in' })).toBeVisible();
  expect(await stored()).not.toMatch(/eyJ/);
});

test('the console counts down to the next possible login', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/nowhere' });
  await page.route('**/api/auth/login', (route) =>
    route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, body: '{"error":"Too many logins"}' }),
  );
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, 'admin');
  await expect(page.getByText('Too many attempts. Try again in 2 s.')).toBeVisible();
  await expect(page.getByText('Too many attempts. Try again in 1 s.')).toBeVisible();
  await page.unrouteAll();
  await expect(page.getByText('Too many attempts')).toHaveCount(0);
  await fillLogin(page, 'admin');
  await expect(page.getByRole('button', { name: 'admin, Admin' })).toBeVisible();
});

test('the console can be used with the keyboard alone', async ({ openConsole }) => {
  const { page, complaints } = await openConsole();
  const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await heading('Alerts');
  await page.keyboard.press('/');
  await page.keyboard.type('g o disk');
  await expect(page.getByLabel('Message contains')).toHaveValue('g o disk');
  await page.keyboard.press('Escape');
  await expect(page.getByLabel('Message contains')).toHaveValue('');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Type to search' }).pressSequentially('overv');
  await expect(page.getByRole('option', { name: 'Go to Overview' })).toBeVisible();
  await page.keyboard.press('Enter');
  await heading('Overview');
  await page.keyboard.press('?');
  await page.getByLabel('Use single-key shortcuts').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await heading('Overview');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('the start screen, login dialog, palette and help have no accessibility faults', async ({ openConsole }) => {
  const { page } = await openConsole();
  expect(await findFaults(page)).toEqual([]);
  for (const open of [
    () => page.getByRole('banner').getByRole('button', { name: 'Log in' }).click(),
    () => page.keyboard.press('Control+k'),
    () => page.keyboard.press('?'),
  ]) {
    await open();
    await expect(page.getByRole('dialog')).toBeVisible();
    expect(await findFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
});

test('a malformed response is reported with its route, and the rest of the screen works', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ hash: '#/nowhere' });
  await page.route('**/api/processes*', (route) => route.fulfill({ body: '{"data":[{"name":"init"}]}' }));
  // An event has the same readings and can arrive before the response.
  await page.route('**/api/events*', () => undefined);
  await page.goto('/console/#/');
  await expect(page.getByRole('alert').getByText('GET /api/processes')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Latest alerts' })).toBeVisible();
  await page.unrouteAll();
  // The next reading, a few seconds later, can arrive before the click.
  const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' });
  await Promise.any([retry.click(), retry.waitFor({ state: 'detached' })]);
  await expect(page.getByRole('columnheader', { name: 'PID' })).toBeVisible();
  expect(complaints).toEqual([]);
});

test('a screen that needs a login asks for it', async ({ openConsole }) => {
  const { page } = await openConsole({ settings: { alertsAuth: 'bearer' }, hash: '#/alerts' });
  await expect(page.getByText('Log in to see this content')).toBeVisible();
  await logIn(page, 'reader');
  await expect(page.getByText('No alerts yet')).toBeVisible();
});

test('a server with open routes that other machines can reach shows a warning on every screen', async ({
  openConsole,
}) => {
  const { page, complaints } = await openConsole({ settings: { trustProxy: ['127.0.0.1'] } });
  const warning = page.getByRole('note').getByText(/paths need no token\. Set access to "login"/);
  await expect(warning).toBeVisible();
  expect(await findFaults(page)).toEqual([]);
  await page.goto('/console/#/tasks');
  await expect(warning).toBeVisible();
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(complaints).toEqual([]);

  const closed = await openConsole({ settings: { trustProxy: ['127.0.0.1'], access: 'login' } });
  await expect(closed.page.getByRole('note')).toHaveCount(0);
});

test('with `access: login` every screen asks for a login, and works afterwards', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ settings: { access: 'login' }, hash: '#/tasks' });
  await expect(page.getByText('Log in to see this content').first()).toBeVisible();
  await logIn(page, 'reader');
  await expect(page.getByText('No tasks yet').first()).toBeVisible();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  for (const [hash, heading] of [
    ['#/', 'Latest alerts'],
    ['#/alerts', 'Alerts'],
    ['#/items', 'Items'],
  ] as const) {
    await page.goto(`/console/${hash}`);
    await expect(page.getByRole('heading', { name: heading, exact: true }).first()).toBeVisible();
    await waitUntilLoaded(page);
    await expect(page.getByText('Log in to see this content'), hash).toHaveCount(0);
    await expect(page.getByRole('alert'), hash).toHaveCount(0);
  }
  expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
});

test('the palette logs in and out, and offers no login if the server has none', async ({ openConsole }) => {
  const { page } = await openConsole({ hash: '#/nowhere' });
  const options = page.getByRole('dialog').getByRole('option');
  const run = async (name: string) => {
    await page.keyboard.press('Control+k');
    await options.getByText(name, { exact: true }).click();
  };
  await run('Log in');
  await fillLogin(page, 'reader');
  await expect(page.getByRole('button', { name: 'reader, Reader' })).toBeVisible();
  await run('Log out');
  await expect(page.getByRole('banner').getByRole('button', { name: 'Log in' })).toBeVisible();

  const without = await openConsole({ settings: { profiles: ['tasks'] } });
  await without.page.keyboard.press('Control+k');
  await expect(without.page.getByRole('option', { name: 'Go to Tasks' })).toBeVisible();
  await expect(without.page.getByRole('option', { name: 'Log in' })).toHaveCount(0);
});

test('a server without readings is not shown as healthy', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ settings: { profiles: ['tasks'] } });
  await expect(page.getByText('Health is unknown')).toBeVisible();
  await expect(page.getByRole('button', { name: '24 h' })).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('the console works in a browser that allows no storage', async ({ openConsole }) => {
  const { page, complaints } = await openConsole({ hash: '#/tasks' });
  await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`);
  await page.reload();
  await page.getByRole('banner').getByRole('button', { name: /Theme/ }).click();
  await expect(page.getByRole('button', { name: 'Theme: Light theme' })).toBeVisible();
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Stay logged in while this tab is open').check();
  await fillLogin(page, 'admin');
  await page.getByRole('button', { name: 'admin, Admin' }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await expect(page.getByRole('banner').getByRole('button', { name: 'Log in' })).toBeVisible();
  expect(complaints).toEqual([]);
});

test("the console works below a proxy's path, and shows a message if its scripts are blocked", async ({
  serveApp,
  openConsole,
}) => {
  const app = await serveApp();
  const below = (url: string): string => url.replace('/below/', '/');
  const { page } = await openConsole({ app, hash: '#/nowhere' });
  await page.context().route('**/below/**', async (route) => {
    const response = await route.fetch({ url: below(route.request().url()) });
    await route.fulfill({ response });
  });
  await page.goto('/below/console/#/tasks');
  await expect(page.getByText('No tasks yet')).toBeVisible();
  await expect(page.getByText('The scripts of the console cannot be loaded')).toHaveCount(0);
  await page.getByRole('button', { name: 'New task' }).click();
  await page.getByLabel('Title', { exact: true }).fill('through the proxy');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Created task 1.')).toBeVisible();
  await expect(page).toHaveURL(/\/below\/console\/#\/tasks$/);

  await page.route('**/*.js', (route) => route.fulfill({ status: 403, body: '' }));
  await page.reload();
  await expect(page.getByText('The scripts of the console cannot be loaded')).toBeVisible();
  // The proxy is still waiting for the end of the stream of events, but that stream never ends.
  await page.context().unrouteAll({ behavior: 'ignoreErrors' });
});
