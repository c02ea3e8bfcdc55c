import type { TestContext } from 'node:test';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { passwords, startApp, type TestApp } from '../support/app.ts';
import { atEnd } from '../support/scope.ts';
import { collectComplaints } from './docs-page.ts';

export interface ConsolePage {
  page: Page;
  app: TestApp;
  /** Warnings and errors of the browser console so far, violations of the policy among them, and uncaught errors. */
  complaints: string[];
}

interface Options extends BrowserContextOptions {
  /** The address after `/console/`. */
  hash?: string;
  /** Settings of the app. */
  settings?: Record<string, unknown>;
  app?: TestApp;
}

/** Opens the console of an app, by default a new one; both end with the test. */
export const openConsole = async (
  t: TestContext,
  browser: Browser | undefined,
  { hash = '', settings = {}, app: given, ...options }: Options = {},
): Promise<ConsolePage> => {
  if (!browser) throw new Error('no Chromium or Chrome is installed here');
  const app = given ?? (await startApp(t, { settings }));
  // uPlot throws where the system's locale is malformed.
  const context = await browser.newContext({ baseURL: app.url, locale: 'en-GB', ...options });
  atEnd(t, async () => {
    if (context.browser()?.isConnected()) await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(`/console/${hash}`);
  await page.getByRole('navigation').waitFor();
  return { page, app, complaints };
};

/** Fills in the login dialog, which must be open. */
export const fillLogin = async (page: Page, name: 'admin' | 'reader', password?: string): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Log in' });
  await dialog.getByLabel('User name').fill(name);
  await dialog.getByLabel('Password').fill(password ?? passwords[name]);
  await dialog.getByRole('button', { name: 'Log in' }).click();
};

export const logIn = async (page: Page, name: 'admin' | 'reader'): Promise<void> => {
  await page.getByRole('banner').getByRole('button', { name: 'Log in' }).click();
  await fillLogin(page, name);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
};

/** Waits until nothing is being loaded. */
export const waitUntilLoaded = (page: Page): Promise<void> =>
  page.locator('[aria-busy]').first().waitFor({ state: 'detached' });

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** What axe finds, best practices included, in light and dark at three widths; and pages wider than their window. */
export const findFaults = async (page: Page): Promise<string[]> => {
  const faults: string[] = [];
  await page.evaluate(axe.source);
  for (const width of [360, 768, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run()');
      for (const { id, nodes } of violations) {
        for (const { html, failureSummary } of nodes) {
          faults.push(`${width} ${colorScheme} ${id}: ${html.slice(0, 300)} ${failureSummary}`);
        }
      }
    }
    const actual = await page.evaluate('document.documentElement.scrollWidth');
    if (actual !== width) faults.push(`the page is ${actual} wide in a window of ${width}`);
  }
  return faults;
};
