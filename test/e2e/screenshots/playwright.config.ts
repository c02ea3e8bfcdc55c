import config from '../playwright.config.ts';

/** `npm run screenshots` creates the screenshots in the documents; `npm test` does not. */
export default {
  ...config,
  testMatch: 'screenshots.ts',
  globalSetup: '../support/setup.ts',
  timeout: 300_000,
  reporter: 'list',
};
