import { ping } from '../../../host/ping.ts';
import type { Reach } from '../../../kit/reach.ts';
import { defineWatchType, toMsText } from '../watch-type.ts';
import { toNetworkFailure } from './failures.ts';
import { toBareHost } from './socket.ts';

/** Checks whether and how fast a host responds. Uses the system's `ping`, because it needs no privileges. */
export const pingWatch = defineWatchType({
  name: 'ping',
  scope: () => 'network',
  keys: ['host'],
  required: ['host'],
  limit: 'optional',
  defaultLevel: 'ERROR',
  every: 60,
  findProblem: ({ host = '' }) => (/^[\w.:%[\]-]+$/.test(host) ? undefined : 'host must be a name or an address'),
  check: async ({ host = '', limit }, { reach }, signal) => {
    const thing = toBareHost(host);
    const address = await resolveHost(thing, reach, signal);
    const ms = await ping(address, signal);
    if (ms === undefined) return [{ thing, isBad: true, words: `${thing} does not respond to ping` }];
    const words = `${thing} responded to ping after ${toMsText(ms)}`;
    return [
      limit === undefined ? { thing, isBad: false, figure: ms, words } : { thing, figure: ms, toText: toMsText, words },
    ];
  },
});

/** Resolves to an allowed address of a host. Rejects with an Error whose message is the reason. */
const resolveHost = (host: string, { assertHost, lookup }: Reach, signal: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    assertHost(host);
    lookup(host, {}, (error, address) => {
      if (error) reject(toNetworkFailure(error, signal));
      else resolve(String(address));
    });
  });
