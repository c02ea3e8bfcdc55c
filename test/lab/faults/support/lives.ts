import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startClients } from './clients.ts';
import { alerts, type Operation } from './kept.ts';
import { killServer } from './kill.ts';
import { type FaultServer, startServer } from './server.ts';

type Options = Parameters<typeof startServer>[0];

const clientCount = 8;
const longestWaitMs = 5000;

/** Moment of the kill: a time after startup, a number of acknowledgements, or the writing of the state file. */
export interface End {
  afterMs?: number;
  afterRequests?: number;
  /** Milliseconds after the beginning of writing the state file. */
  whileSavingMs?: number;
}

/** Runs one server with clients until it is killed. Resolves to the requests by client. */
export const runUntilKilled = async (
  options: Options,
  tag: string,
  { afterMs, whileSavingMs, afterRequests = Number.POSITIVE_INFINITY }: End,
): Promise<Operation[][]> => {
  const { kept = alerts, dataDir } = options;
  const server = await start(options);
  let count = 0;
  const onAcknowledged = () => ++count === afterRequests && server.child.kill('SIGKILL');
  const clients = startClients(server.url, { kept, tag, count: clientCount, onAcknowledged });
  try {
    if (whileSavingMs !== undefined) await waitForFile(join(dataDir, `${kept.log}.state.new`));
    if (afterMs === undefined && whileSavingMs === undefined) await clients.done;
    else await setTimeout(afterMs ?? whileSavingMs);
    assert.equal(server.child.exitCode, null, 'the server has ended by itself');
  } finally {
    await killServer(server);
    await clients.stop();
  }
  assert.deepEqual(
    [...clients.statuses.keys()].filter((status) => status !== 200),
    [],
  );
  return clients.sent;
};

export const start = async (options: Options): Promise<FaultServer> => {
  let said = '';
  const server = await startServer({ ...options, onRefusal: (stderr) => (said = stderr) });
  assert.ok(server, `the server does not start: ${said}`);
  return server;
};

/** Kills a server that may still be starting. */
export const killStart = async (options: Options): Promise<void> => {
  const server = await startServer(options);
  await server?.ended;
};

/** Resolves when the file exists, or after a while, because it only determines the moment of the kill. */
const waitForFile = async (path: string): Promise<void> => {
  for (const end = performance.now() + longestWaitMs; !existsSync(path) && performance.now() < end; )
    await setTimeout(1);
};
