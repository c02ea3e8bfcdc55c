import config from '../playwright.config.ts';

/**
 * Configuration for `npm run screenshots`. This command creates the screenshots in the documents. `npm test` does not
 * run it.
 */
export default {
  ...config,
  testMatch: 'screenshots.ts',
  globalSetup: '../support/setup.ts',
  timeout: 600_000,
  reporter: 'list',
};
