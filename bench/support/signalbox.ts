import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cores } from './cores.ts';
import type { Scope } from './scope.ts';
import { type Server, startServer } from './server.ts';

const main = fileURLToPath(new URL('../../signalbox.js', import.meta.url));

/** What node is told so that the server answers messages with it. */
const reports = {
  memory: ['--expose-gc', '--import', new URL('./report-memory.js', import.meta.url).href],
  delay: ['--import', new URL('./report-delay.js', import.meta.url).href],
};

/** Of the administrator of every server here. */
export const password = 'a password for measurements';

interface Options {
  flags?: string[];
  /** Where alerts are kept; a folder of its own where it is not named. */
  dataDir?: string;
  /** What it can be asked for: by `readLiveBytes`, or by `readOwnDelay`. */
  tells?: keyof typeof reports;
  /** The limit on its open files. */
  openFiles?: number;
}

/** The built program, with every profile where the flags name none. */
export const startSignalbox = (
  scope: Scope,
  cores: Cores | undefined,
  { flags = [], dataDir, tells, openFiles }: Options = {},
): Promise<Server> =>
  startServer(scope, cores, {
    command: (port) => [
      ...(openFiles === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh']),
      process.execPath,
      ...(tells ? reports[tells] : []),
      ...[main, '--port', String(port), '--data-dir', dataDir ?? `data-${port}`, ...flags],
    ],
    path: '/health',
    variables: { SIGNALBOX_ADMIN_PASSWORD: password },
    hasChannel: tells !== undefined,
  });

/** Bytes that are in use in a server that tells its memory, after a collection of what is not. */
export const readLiveBytes = async ({ child }: Server): Promise<number> => {
  child.send('collect');
  const [usage] = await once(child, 'message');
  const { heapUsed, external } = usage as NodeJS.MemoryUsage;
  return heapUsed + external;
};

/** How long 99 of 100 requests wait in a server that tells its delay until it turns to them, in ms, since this was last asked. */
export const readOwnDelay = async ({ child }: Server): Promise<number> => {
  child.send('delay');
  const [ms] = await once(child, 'message');
  return ms as number;
};
