import { type Browser, chromium } from 'playwright-core';
import { findChromium, unpackChromium } from './support/chromium.ts';

/** Starts a headless Chromium for programs that are not browser tests. Undefined without a browser. */
export const openBrowser = async (): Promise<Browser | undefined> => {
  unpackChromium();
  const options = findChromium();
  return options && chromium.launch(options);
};

/** Returns the reason to skip tests if there is no browser. False if tests run, as they always do in CI. */
export const toSkip = (browser: Browser | undefined): string | false =>
  browser === undefined && process.env['CI'] !== 'true' && 'no Chromium or Chrome is installed here';
