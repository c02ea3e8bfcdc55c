import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { waitForMore } from '../../../support/wait.ts';
import { type Acknowledged, type Clients, startClients } from './clients.ts';
import { atEnd, createTemporaryFolder } from './ending.ts';
import { alerts, type Kept } from './kept.ts';
import { killServer } from './kill.ts';
import { type FaultServer, startServer } from './server.ts';

const maxAcknowledgedBetween = 30;

/** Server under constant load. */
export interface Busy {
  /** Folder that contains the data directory and has room for other files. */
  folder: string;
  dataDir: string;
  /** Path of the log. */
  file: string;
  server: FaultServer;
  clients: Clients;
}

interface Options {
  kept?: Kept;
  flags?: string[];
  folder?: string;
}

/** Starts a server and clients that send to it until the test ends. */
export const startBusy = async (
  t: TestContext,
  { kept = alerts, flags = [], folder = createTemporaryFolder(t) }: Options = {},
): Promise<Busy> => {
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const server = await startServer({ dataDir, kept, flags });
  assert.ok(server);
  const clients = startClients(server.url, { kept, tag: 'busy', count: 4 });
  atEnd(t, async () => {
    await killServer(server);
    await clients.stop();
  });
  return { folder, dataDir, file: join(dataDir, `${kept.log}.jsonl`), server, clients };
};

/** Waits until a random number of further alerts, at least one, have been acknowledged. */
export const waitForAlerts = ({ acknowledged }: Clients): Promise<void> =>
  waitForMore(
    'more alerts are acknowledged',
    () => acknowledged.flat().length,
    1 + Math.random() * maxAcknowledgedBetween,
  );

/** Stops the clients, shuts down the server, and resolves to the acknowledged records. */
export const finish = async ({ clients, server }: Busy): Promise<Acknowledged[][]> => {
  await clients.stop();
  server.child.kill('SIGTERM');
  assert.equal(await server.ended, 0, server.stderr());
  return clients.acknowledged;
};
