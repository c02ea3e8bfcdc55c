import { defineWatchType, toMsText } from '../watch-type.ts';
import { toFault } from './failures.ts';
import { PhaseClock } from './phases.ts';
import { openSocket, toBareHost, toServerName } from './socket.ts';

/** Checks that a server accepts a connection in time. */
export const tcpWatch = defineWatchType({
  name: 'tcp',
  scope: () => 'network',
  keys: ['host', 'port'],
  required: ['host', 'port'],
  limit: 'optional',
  defaultLevel: 'ERROR',
  every: 60,
  check: async ({ host: written = '', port = 0, limit }, { reach }, signal) => {
    const server = { host: toBareHost(written), port };
    const thing = toServerName(server);
    const clock = new PhaseClock();
    const begun = performance.now();
    const access = { reach, clock, authorities: [] };
    const socket = await openSocket(server, { isTls: false }, access, signal).catch(toFault);
    if (typeof socket === 'string')
      return [{ thing, isBad: true, words: `${thing} does not accept connections: ${socket}`, seen: clock.see() }];
    const ms = performance.now() - begun;
    socket.destroy();
    clock.markEnd();
    const common = { thing, words: `${thing} accepted a connection after ${toMsText(ms)}`, seen: clock.see() };
    return [limit === undefined ? { ...common, isBad: false } : { ...common, figure: ms, toText: toMsText }];
  },
});
