import { signal } from '@preact/signals';

/**
 * Clock difference in milliseconds that is ignored. Covers the response time and the header's resolution of one second.
 */
const leastSkew = 5000;

/** Milliseconds by which the server's clock is ahead of the browser's. */
const skew = signal(0);

const present = signal(Date.now());
setInterval(() => {
  if (!document.hidden) present.value = Date.now();
}, 1000);

/** Returns the current time by the browser's clock in milliseconds, updated every second while in use. */
export const now = (): number => present.value;

/** Returns the current time by the server's clock, for comparison with the server's timestamps. */
export const serverNow = (): number => Date.now() + skew.peek();

/** Returns the milliseconds until a timestamp from the server. Negative for a past time. Updated every second. */
export const untilTime = (time: number): number => time - now() - skew.value;

/** Measures the clock difference using a response's `Date` header. */
export const compareClocks = ({ headers }: Response): void => {
  const difference = Date.parse(headers.get('Date') ?? '') - Date.now();
  if (Number.isNaN(difference)) return;
  skew.value = Math.abs(difference) < leastSkew ? 0 : difference;
};
