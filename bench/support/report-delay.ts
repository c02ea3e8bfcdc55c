/** Loaded into a server before its own code: answers each message with `toWait` of the time since the message before. */
const intervalMs = 1;
/** Milliseconds between answers that are told apart. */
const step = 0.05;
/** Milliseconds by which timers were late. */
let delays: number[] = [];
let last = performance.now();

const note = (): void => {
  const now = performance.now();
  delays.push(now - last - intervalMs);
  last = now;
};

/** How long a request that may come at any moment waits, in milliseconds, until the server turns to it: 99 of 100. */
const toWait = (): number => {
  const total = delays.reduce((sum, delay) => sum + delay + intervalMs, 0);
  /** In what part of the time a request would have to wait longer. */
  const shareOver = (wait: number): number => delays.reduce((sum, delay) => sum + Math.max(0, delay - wait), 0) / total;
  let wait = step;
  while (shareOver(wait) > 0.01) wait += step;
  return wait;
};

setInterval(note, intervalMs).unref();
process.on('message', () => {
  process.send?.(toWait());
  delays = [];
});
