import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startApp, type TestApp } from '../support/app.ts';
import { atEnd } from '../support/scope.ts';

export interface DocsPage {
  page: Page;
  app: TestApp;
  /** Warnings and errors of the browser console so far, and uncaught errors. */
  complaints: string[];
}

interface Options extends BrowserContextOptions {
  /** Served instead of the program's own document. */
  document?: string;
  /** Status of the response with the document. */
  status?: number;
  /** The address after `/docs/`. */
  hash?: string;
  /** Settings of the app. */
  settings?: Record<string, unknown>;
}

/** Loads the page of a new app; both end with the test. */
export const openDocs = async (
  t: TestContext,
  browser: Browser | undefined,
  { document, status = 200, hash = '', settings = {}, ...options }: Options = {},
): Promise<DocsPage> => {
  if (!browser) throw new Error('no Chromium or Chrome is installed here');
  const app = await startApp(t, { settings });
  const context = await browser.newContext({ baseURL: app.url, ...options });
  atEnd(t, async () => {
    if (context.browser()?.isConnected()) await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });
  if (document !== undefined) {
    await context.route('**/openapi.json', (route) => route.fulfill({ status, body: document }));
  }
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(`/docs/${hash}`);
  return { page, app, complaints };
};

/** Each listed route as `GET /path access`, in the page's order. */
export const readRoutes = async (page: Page): Promise<string[]> => {
  await page.locator('details:visible').first().waitFor();
  const [methods, paths, access] = await Promise.all(
    ['.method', '.path', '.access'].map((part) => page.locator(`summary:visible ${part}`).allTextContents()),
  );
  return (methods ?? []).map((method, index) => `${method} ${paths?.[index]} ${access?.[index]}`);
};

/** Opens every route. */
export const openAll = async (page: Page): Promise<void> => {
  await page.locator('details').first().waitFor();
  await page.evaluate('for (const route of document.querySelectorAll("details")) route.open = true');
};

/** Collects warnings and errors of the browser console, and uncaught errors. */
export const collectComplaints = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(message.text());
  });
  return complaints;
};
