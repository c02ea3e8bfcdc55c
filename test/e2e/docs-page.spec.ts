import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContextOptions, Page } from '@playwright/test';
import { atEnd } from '../support/scope.ts';
import type { TestApp } from './support/app.ts';
import { test as consoleTest } from './support/console.ts';
import { collectComplaints } from './support/page.ts';

interface DocsPage {
  page: Page;
  app: TestApp;
  /** Warnings and errors in the browser's console, uncaught errors, and requests to other hosts. */
  complaints: string[];
}

interface DocsOptions extends BrowserContextOptions {
  settings?: Record<string, unknown>;
  /** Returns a script that runs in the page before the page's own scripts. */
  script?(app: TestApp): string | Promise<string>;
  /** Returns the base URL of the page. Default: the app's URL. */
  toUrl?(app: TestApp): Promise<string>;
}

interface Fixtures {
  /** Starts an app and opens its API reference after running a script. App and page end with the test. */
  openDocs: (options?: DocsOptions) => Promise<DocsPage>;
}

const test = consoleTest.extend<Fixtures>({
  openDocs: ({ scope, serveApp, browser }, use) =>
    use(async ({ settings = {}, script, toUrl, ...options } = {}) => {
      const app = await serveApp({ settings });
      const url = (await toUrl?.(app)) ?? app.url;
      const context = await browser.newContext(options);
      atEnd(scope, () => context.close());
      const page = await context.newPage();
      const complaints = collectComplaints(page);
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url());
        if (protocol.startsWith('http') && origin !== new URL(url).origin) complaints.push(request.url());
      });
      // The browser does not log every refused eval.
      await page.addInitScript(
        "addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective, event.blockedURI))",
      );
      if (script) await page.addInitScript(await script(app));
      await page.goto(`${url}/docs/`);
      await page.getByRole('heading', { name: 'signalbox', exact: true }).waitFor();
      return { page, app, complaints };
    }),
});

/** Searches for a route by its path and opens it. */
const openRoute = async (page: Page, method: string, path: string): Promise<void> => {
  await page.getByRole('button', { name: 'Search' }).first().click();
  // Inserted as a whole, because each key would start another search.
  await page.keyboard.insertText(path);
  const name = new RegExp(`Operation.*${method}HTTP.*${path}$`.replaceAll('/', '\\/'), 's');
  await page.getByRole('option').filter({ hasText: name }).first().click();
  await page.getByRole('option').first().waitFor({ state: 'hidden' });
};

/** Opens the dialog for trying a route and sends the request. Resolves to the response. */
const tryRoute = async (page: Page, method: string, path: string) => {
  await page.getByRole('button', { name: `(${method} ${path})` }).click();
  const received = page.waitForResponse((response) => new URL(response.url()).pathname === path);
  await page.getByRole('button', { name: /^Send/ }).first().click();
  return received;
};

/** Opens the page with a console theme that differs from the system's, and checks the page. */
const openInTheme = async (
  openDocs: Fixtures['openDocs'],
  width: number,
  theme: 'light' | 'dark',
  settings = {},
): Promise<DocsPage> => {
  const docs = await openDocs({
    settings,
    viewport: { width, height: 800 },
    colorScheme: theme === 'light' ? 'dark' : 'light',
    script: () => `localStorage.setItem('signalbox-preferences', '{"theme":"${theme}"}')`,
  });
  const { page, complaints } = docs;
  await page.getByRole('heading', { name: 'alerts', exact: true }).waitFor();
  await page.getByText('/api/alert').first().waitFor();
  await page.locator(`body.${theme}-mode`).waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  assert.deepEqual(complaints, []);
  return docs;
};

// The page takes seconds to load, so each test checks as much as possible.
test("at 1280 px the page uses the console's dark theme and no other host, and its search and requests work", async ({
  openDocs,
}) => {
  const { page, app, complaints } = await openInTheme(openDocs, 1280, 'dark');
  const download = page.getByRole('link', { name: 'Download OpenAPI Document' });
  assert.equal(await download.getAttribute('href'), '../openapi.json');
  await openRoute(page, 'get', '/api/disks');
  await page.getByRole('heading', { name: 'List the fixed local disks' }).waitFor();
  assert.match(page.url(), /#.*\/api\/disks$/);
  assert.equal((await tryRoute(page, 'get', '/api/disks')).status(), 200);
  await page.getByText('"drive"').last().waitFor();
  await page.keyboard.press('Escape');
  await openRoute(page, 'get', '/api/alerts/search');
  const response = await tryRoute(page, 'get', '/api/alerts/search');
  assert.deepEqual([response.url(), response.status()], [`${app.url}/api/alerts/search`, 200]);
  assert.deepEqual(complaints, []);
});

test("at 360 px the page uses the console's light theme and no other host, and sends the entered token", async ({
  openDocs,
}) => {
  const { page, app } = await openInTheme(openDocs, 360, 'light', { access: 'login' });
  await page.setViewportSize({ width: 1280, height: 800 });
  await openRoute(page, 'get', '/api/disks');
  assert.equal((await tryRoute(page, 'get', '/api/disks')).status(), 401);
  const token = await app.login('reader');
  await page.getByRole('dialog').getByLabel('Bearer Token').fill(token);
  const received = page.waitForResponse('**/api/disks');
  await page.getByRole('button', { name: /^Send/ }).first().click();
  assert.equal((await received).status(), 200);
  const stored = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  assert.ok(!stored.includes(token), 'the token is not stored');
});

test('the page works in a browser that allows no storage', async ({ openDocs }) => {
  const { page } = await openDocs({
    script: () => `for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError'); } });`,
  });
  await page.getByText('/api/alert').first().waitFor();
});

test("below a proxy's path, the page sends requests below this path, with the console's login in this tab", async ({
  openDocs,
  scope,
}) => {
  const startProxy = async (app: TestApp): Promise<string> => {
    const proxy = createServer(({ method, url = '', headers }, response) => {
      const path = url.replace(/^\/below/, '');
      sendRequest(`${app.url}${path}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      }).end();
    }).listen(0, '127.0.0.1');
    atEnd(scope, () => void proxy.close().closeAllConnections());
    await once(proxy, 'listening');
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/below`;
  };
  const { page } = await openDocs({
    toUrl: startProxy,
    script: async (app) => {
      const login = { name: 'reader', role: 'Reader', token: await app.login('reader') };
      const session = JSON.stringify({ ...login, expiresAt: Date.now() + 60_000 });
      return `sessionStorage.setItem('signalbox-session', '${session}')`;
    },
  });
  await openRoute(page, 'get', '/api/items');
  await page.getByRole('button', { name: '(get /api/items)' }).click();
  const received = page.waitForResponse('**/below/api/items');
  await page.getByRole('button', { name: /^Send/ }).first().click();
  assert.equal((await received).status(), 200);
});
