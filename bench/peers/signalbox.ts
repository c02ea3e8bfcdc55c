import { Agent } from 'node:http';
import { join } from 'node:path';
import { readLog } from '../../test/faults/support/compare.ts';
import { startServer } from '../../test/faults/support/server.ts';
import { send } from '../support/http.ts';
import type { Peer } from './peer.ts';

/** signalbox: each record is the message of an alert. */
export const signalbox: Peer = {
  name: 'signalbox',
  start: async (folder) => {
    const agent = new Agent({ keepAlive: true });
    const dataDir = join(folder, 'data');
    const server = await startServer({ dataDir });
    if (!server) throw new Error('signalbox does not start');
    const { url, child, ended } = server;
    return {
      kill: async () => {
        child.kill('SIGKILL');
        await ended;
      },
      connect: async () => ({
        send: async (message) => (await send(`${url}/api/alert`, { agent, body: { message } }))?.status === 200,
        close: () => undefined,
      }),
      list: async () => readLog(dataDir).map(({ message }) => message),
    };
  },
};
