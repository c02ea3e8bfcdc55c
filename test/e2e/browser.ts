import { type Browser, chromium } from 'playwright-core';
import { findChromium, unpackChromium } from './support/chromium.ts';

/** Starts a headless Chromium for programs that are not browser tests; undefined if none is found. */
export const openBrowser = async (): Promise<Browser | undefined> => {
  unpackChromium();
  const options = findChromium();
  return options && chromium.launch(options);
};

/** Reason to skip tests if no browser is found; false if tests run, as always in CI. */
export const toSkip = (browser: Browser | undefined): string | false =>
  browser === undefined && process.env['CI'] !== 'true' && 'no Chromium or Chrome is installed here';
