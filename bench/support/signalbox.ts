import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cores } from './cores.ts';
import type { Scope } from './scope.ts';
import { type Server, startServer } from './server.ts';

const main = fileURLToPath(new URL('../../signalbox.js', import.meta.url));
const memoryReport = new URL('./report-memory.js', import.meta.url).href;

/** Of the administrator of every server here. */
export const password = 'a password for measurements';

interface Options {
  flags?: string[];
  /** Where alerts are kept; a folder of its own where it is not named. */
  dataDir?: string;
  /** Lets `readLiveMemory` ask it. */
  tellsMemory?: boolean;
}

/** The built program, with every profile where the flags name none. */
export const startSignalbox = (
  scope: Scope,
  cores: Cores | undefined,
  { flags = [], dataDir, tellsMemory = false }: Options = {},
): Promise<Server> =>
  startServer(scope, cores, {
    command: (port) => [
      process.execPath,
      ...(tellsMemory ? ['--expose-gc', '--import', memoryReport] : []),
      ...[main, '--port', String(port), '--data-dir', dataDir ?? `data-${port}`, ...flags],
    ],
    path: '/health',
    variables: { SIGNALBOX_ADMIN_PASSWORD: password },
    hasChannel: tellsMemory,
  });

/** Bytes that are in use in a server that `tellsMemory`, after a collection of what is not. */
export const readLiveBytes = async ({ child }: Server): Promise<number> => {
  child.send('collect');
  const [usage] = await once(child, 'message');
  const { heapUsed, external } = usage as NodeJS.MemoryUsage;
  return heapUsed + external;
};
