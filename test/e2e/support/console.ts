import { type Browser, type BrowserContextOptions, test as base, type Page } from '@playwright/test';
import { atEnd, type Scope } from '../../support/scope.ts';
import { startApp, startPublished, type TestApp } from './app.ts';
import { findChromium } from './chromium.ts';
import { collectComplaints } from './page.ts';

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
  /** The page's clock can be set forward with `page.clock`; it runs as usual until then. */
  hasClock?: boolean;
}

type Rest<F> = F extends (scope: Scope, ...rest: infer R) => infer Result ? (...rest: R) => Result : never;

interface Fixtures {
  /** For helpers that clean up when the test ends. */
  scope: Scope;
  startApp: Rest<typeof startApp>;
  startPublished: Rest<typeof startPublished>;
  /** Opens the console of an app, by default a new one; both end with the test. */
  openConsole: (options?: Options) => Promise<ConsolePage>;
}

export const test = base.extend<Fixtures>({
  scope: async ({ browserName: _ }, use, { skip }) => {
    skip(findChromium() === undefined && process.env['CI'] !== 'true', 'no Chromium or Chrome is installed here');
    const steps: (() => unknown)[] = [];
    await use({ after: (step) => void steps.push(step) });
    for (const step of steps.reverse()) await step();
  },
  startApp: ({ scope }, use) => use((options) => startApp(scope, options)),
  startPublished: ({ scope }, use) => use((options) => startPublished(scope, options)),
  openConsole: ({ scope, browser }, use) => use((options) => openConsole(scope, browser, options)),
});

const openConsole = async (
  scope: Scope,
  browser: Browser,
  { hash = '', settings = {}, app: given, hasClock = false, ...options }: Options = {},
): Promise<ConsolePage> => {
  const app = given ?? (await startApp(scope, { settings }));
  const context = await browser.newContext({
    baseURL: app.url,
    // uPlot throws where the system's locale is malformed.
    locale: 'en-GB',
    // Each frame of a transition is drawn by the processor.
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

/** Keeps a figure in the results of the test. */
export const note = (description: string): void => void test.info().annotations.push({ type: 'measured', description });
