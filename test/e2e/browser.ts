import { type Browser, chromium } from 'playwright-core';
import { findChromium, unpackChromium } from './support/chromium.ts';

/** A headless Chromium for a program that is no browser test itself, or undefined if there is none. */
export const openBrowser = async (): Promise<Browser | undefined> => {
  unpackChromium();
  const options = findChromium();
  return options && chromium.launch(options);
};

/** The reason to skip tests without a browser; false if they run, and always false in CI. */
export const toSkip = (browser: Browser | undefined): string | false =>
  browser === undefined && process.env['CI'] !== 'true' && 'no Chromium or Chrome is installed here';
