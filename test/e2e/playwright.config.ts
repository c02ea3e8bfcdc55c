import { fileURLToPath } from 'node:url';
import { defineConfig } from '@playwright/test';
import { findChromium } from './support/chromium.ts';

const inDist = (path: string): string => fileURLToPath(new URL(`../../dist/e2e/${path}`, import.meta.url));
const isCI = process.env['CI'] === 'true';

/** `npx playwright test --config test/e2e [PART OF A FILE'S NAME ...]`, once `npm test` has compiled everything. */
export default defineConfig({
  testMatch: '*.spec.ts',
  globalSetup: './support/setup.ts',
  // One browser each, for the tests of all files.
  workers: 2,
  fullyParallel: true,
  retries: isCI ? 1 : 0,
  forbidOnly: isCI,
  timeout: process.env['SIGNALBOX_TEST_LONG'] === '1' ? 600_000 : 60_000,
  expect: { timeout: 20_000 },
  // The app runs in the processes of the tests.
  build: { external: ['**/dist/**'] },
  outputDir: inDist('failures'),
  reporter: [['list'], ['./support/reporter.ts', { outputFile: inDist('results.jsonl') }]],
  use: {
    actionTimeout: 20_000,
    launchOptions: findChromium() ?? {},
    screenshot: 'only-on-failure',
    trace: isCI ? 'on-first-retry' : 'off',
  },
});
