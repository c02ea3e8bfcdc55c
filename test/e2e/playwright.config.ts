import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import { findChromium } from './support/chromium.ts';

const inDist = (path: string): string => fileURLToPath(new URL(`../../dist/e2e/${path}`, import.meta.url));
const isCI = process.env['CI'] === 'true';
const isLong = process.env['SIGNALBOX_TEST_LONG'] === '1';
/** Factor for timeouts. In CI, browsers and other tests share two processors and take up to four times longer. */
const patience = isCI ? 4 : 1;
const stepMs = patience * 20_000;

/** Usage, after `npm run build`: `npx playwright test --config test/e2e [PART OF A FILE'S NAME ...]`. */
export default defineConfig({
  testMatch: '*.spec.ts',
  globalSetup: './support/setup.ts',
  // Each worker has one browser for the tests in all files.
  workers: 2,
  fullyParallel: true,
  retries: isCI ? 1 : 0,
  forbidOnly: isCI,
  timeout: isLong ? 600_000 : patience * 60_000,
  expect: { timeout: stepMs },
  // The app runs in the test processes.
  build: { external: ['**/dist/**'] },
  outputDir: inDist('failures'),
  reporter: [['list'], ['./support/reporter.ts']],
  use: {
    actionTimeout: stepMs,
    launchOptions: findChromium() ?? {},
    screenshot: 'only-on-failure',
    trace: isCI ? 'on-first-retry' : 'off',
  },
});
