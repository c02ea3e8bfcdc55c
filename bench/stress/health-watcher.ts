import { once } from 'node:events';
import { watchHealth } from '../../test/support/health.ts';

/** A process that asks a server for health. It is sent its order, and sends the slowest response's milliseconds. */
export interface WatchOrder {
  url: string;
  seconds: number;
}

const [{ url, seconds }] = (await once(process, 'message')) as [WatchOrder];
const watch = watchHealth(url);
setTimeout(async () => process.send?.(await watch.stop()), seconds * 1000);
