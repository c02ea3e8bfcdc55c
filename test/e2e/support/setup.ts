import { unpackChromium } from './chromium.ts';

/** Prepares the browser once, before all tests. */
export default unpackChromium;
