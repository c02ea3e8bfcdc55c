/** Preloaded into a server: answers each message with `toDelayP99` for the time since the previous message. */
const intervalMs = 1;
/** Resolution of the reported delay in milliseconds. */
const step = 0.05;
/** Delays of timers in milliseconds. */
let delays: number[] = [];
let last = performance.now();

const note = (): void => {
  const now = performance.now();
  delays.push(now - last - intervalMs);
  last = now;
};

/** The p99 in milliseconds of how long a request that arrives at a random moment waits for the event loop. */
const toDelayP99 = (): number => {
  const total = delays.reduce((sum, delay) => sum + delay + intervalMs, 0);
  /** The share of time in which a request would have to wait longer. */
  const shareOver = (wait: number): number => delays.reduce((sum, delay) => sum + Math.max(0, delay - wait), 0) / total;
  let wait = step;
  while (shareOver(wait) > 0.01) wait += step;
  return wait;
};

setInterval(note, intervalMs).unref();
process.on('message', () => {
  process.send?.(toDelayP99());
  delays = [];
});
