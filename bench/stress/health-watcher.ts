import { once } from 'node:events';
import { watchHealth } from '../../test/support/health.ts';

/**
 * A process that requests health from a server. It receives its order, and sends the slowest response time in
 * milliseconds.
 */
export interface WatchOrder {
  url: string;
  seconds: number;
}

const [{ url, seconds }] = (await once(process, 'message')) as [WatchOrder];
const watch = watchHealth(url);
setTimeout(async () => process.send?.(await watch.stop()), seconds * 1000);
