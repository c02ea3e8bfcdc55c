import { join } from 'node:path';
import type { Cores } from './cores.ts';
import type { Scope } from './scope.ts';
import type { Server } from './server.ts';
import { startSignalbox } from './signalbox.ts';
import { writeSeed } from './tasks.ts';

/** Starts signalbox with a seed file of this many tasks. */
export const startSeeded = async (scope: Scope, cores: Cores | undefined, count: number): Promise<Server> => {
  const seed = join(scope.folder, `${count}.json`);
  await writeSeed(seed, count);
  return startSignalbox(scope, cores, { flags: ['--seed', seed], report: 'memory' });
};

/** Starts a server with a million tasks on first use; later calls return the same one. */
export const createMillion = (scope: Scope, cores: Cores | undefined): (() => Promise<Server>) => {
  let server: Promise<Server> | undefined;
  return () => {
    server ??= startSeeded(scope, cores, 1_000_000);
    return server;
  };
};
