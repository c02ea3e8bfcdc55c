import { type Browser, type BrowserContextOptions, test as base, type Page } from '@playwright/test';
import { atEnd, type Scope } from '../../support/scope.ts';
import { serveApp, startPublished, type TestApp } from './app.ts';
import { findChromium } from './chromium.ts';
import { collectComplaints } from './page.ts';

export interface ConsolePage {
  page: Page;
  app: TestApp;
  /** Warnings and errors in the browser's console so far, including policy violations, and uncaught errors. */
  complaints: string[];
}

interface Options extends BrowserContextOptions {
  /** Part of the address after `/console/`. */
  hash?: string;
  /** App settings. */
  settings?: Record<string, unknown>;
  app?: TestApp;
  /** True if `page.clock` can move the page's clock forward. Until then, the clock runs normally. */
  hasClock?: boolean;
}

type Rest<F> = F extends (scope: Scope, ...rest: infer R) => infer Result ? (...rest: R) => Result : never;

interface Fixtures {
  /** Scope for helpers that clean up when the test ends. */
  scope: Scope;
  serveApp: Rest<typeof serveApp>;
  startPublished: Rest<typeof startPublished>;
  /** Opens the console of an app, by default of a new app. App and console end with the test. */
  openConsole: (options?: Options) => Promise<ConsolePage>;
}

export const test = base.extend<Fixtures>({
  scope: async ({ browserName: _ }, use, { skip }) => {
    skip(findChromium() === undefined && process.env['CI'] !== 'true', 'no Chromium or Chrome is installed here');
    const steps: (() => unknown)[] = [];
    await use({ after: (step) => void steps.push(step) });
    for (const step of steps.reverse()) await step();
  },
  serveApp: ({ scope }, use) => use((options) => serveApp(scope, options)),
  startPublished: ({ scope }, use) => use((options) => startPublished(scope, options)),
  openConsole: ({ scope, browser }, use) => use((options) => openConsole(scope, browser, options)),
});

const openConsole = async (
  scope: Scope,
  browser: Browser,
  { hash = '', settings = {}, app: given, hasClock = false, ...options }: Options = {},
): Promise<ConsolePage> => {
  const app = given ?? (await serveApp(scope, { settings }));
  const context = await browser.newContext({
    baseURL: app.url,
    // uPlot throws if the system's locale is malformed.
    locale: 'en-GB',
    // Transitions are slow to draw, because the processor draws each frame.
    reducedMotion: 'reduce',
    ...options,
  });
  atEnd(scope, async () => {
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  });
  if (hasClock) await context.clock.install();
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(`/console/${hash}`);
  await page.getByRole('navigation', { name: 'Screens' }).waitFor();
  return { page, app, complaints };
};

/** Adds a measured value to the test's results. */
export const note = (description: string): void => void test.info().annotations.push({ type: 'measured', description });
