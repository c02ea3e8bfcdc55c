import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolution = 1;
const delays = monitorEventLoopDelay({ resolution });
delays.enable();

/**
 * Loaded into a server before its own code: answers each message with the milliseconds by which 99 % of its timers were
 * late at most, since the message before.
 */
process.on('message', () => {
  process.send?.(delays.percentile(99) / 1e6 - resolution);
  delays.reset();
});
