import { signal } from '@preact/signals';

/** Differences below this are the time that a response takes, and the whole seconds of its header. */
const leastSkew = 5000;

/** Milliseconds by which the server's clock is ahead of the browser's. */
const skew = signal(0);

const present = signal(Date.now());
setInterval(() => {
  if (!document.hidden) present.value = Date.now();
}, 1000);

/** The present time by the browser's clock, updated every second while something shows it. */
export const now = (): number => present.value;

/** The present time by the server's clock; what it sends is compared with this. */
export const serverNow = (): number => Date.now() + skew.peek();

/** Milliseconds from now until a time that the server has sent, negative if it has passed; updated as `now`. */
export const untilTime = (time: number): number => time - now() - skew.value;

/** Learns from the header `Date` of a response how far the clocks are apart. */
export const compareClocks = ({ headers }: Response): void => {
  const difference = Date.parse(headers.get('Date') ?? '') - Date.now();
  if (Number.isNaN(difference)) return;
  skew.value = Math.abs(difference) < leastSkew ? 0 : difference;
};
