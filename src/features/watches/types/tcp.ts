import { defineWatchType, toMsText } from '../watch-type.ts';
import { toFault } from './failures.ts';
import { connectTo, toBareHost } from './network.ts';

/** Checks that a server accepts a connection in time. */
export const tcpWatch = defineWatchType({
  name: 'tcp',
  scope: () => 'network',
  keys: ['host', 'port'],
  required: ['host', 'port'],
  limit: 'optional',
  defaultLevel: 'ERROR',
  every: 60,
  check: async ({ host: written = '', port = 0, limit }, { targets }, signal) => {
    const host = toBareHost(written);
    const thing = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    const ms = await connectTo(host, port, targets, signal).catch(toFault);
    if (typeof ms === 'string') return [{ thing, isBad: true, words: `${thing} does not accept connections: ${ms}` }];
    const words = `${thing} accepts connections after ${toMsText(ms)}`;
    return [limit === undefined ? { thing, isBad: false, words } : { thing, figure: ms, toText: toMsText, words }];
  },
});
