import { unpackChromium } from './chromium.ts';

/** Runs once, before all browser tests. */
export default unpackChromium;
