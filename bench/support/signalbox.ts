import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Cores } from './cores.ts';
import type { Scope } from './scope.ts';
import { type Server, startServer } from './server.ts';

const main = fileURLToPath(new URL('../../signalbox.js', import.meta.url));

/** The single executable, if it has been built. */
export const executable = fileURLToPath(new URL('../../signalbox-linux-x64', import.meta.url));

/** Node flags that make the server answer messages with each report. */
const reports = {
  memory: ['--expose-gc', '--import', new URL('./report-memory.js', import.meta.url).href],
  delay: ['--import', new URL('./report-delay.js', import.meta.url).href],
};

/** The administrator's password on every server here. */
export const password = 'a password for measurements';

interface Options {
  flags?: string[];
  variables?: Record<string, string>;
  /** The data directory; a new folder by default. */
  dataDir?: string;
  /** The report it can be asked for, by `readLiveBytes` or `readOwnDelay`. */
  report?: keyof typeof reports;
  /** The limit on its open files. */
  openFiles?: number;
  /** True for the single executable. */
  isExecutable?: boolean;
}

/** Starts the built program, with every profile unless the flags name some. */
export const startSignalbox = (
  scope: Scope,
  cores: Cores | undefined,
  { flags = [], variables = {}, dataDir, report, openFiles, isExecutable = false }: Options = {},
): Promise<Server> =>
  startServer(scope, cores, {
    command: (port) => [
      ...(openFiles === undefined ? [] : ['/bin/sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh']),
      ...(isExecutable ? [executable] : [process.execPath, ...(report ? reports[report] : []), main]),
      ...['--port', String(port), '--data-dir', dataDir ?? `data-${port}`, ...flags],
    ],
    path: '/health',
    variables: { SIGNALBOX_ADMIN_PASSWORD: password, ...variables },
    hasChannel: report !== undefined,
  });

/** Bytes in use in a server that reports memory, after a garbage collection. */
export const readLiveBytes = async ({ child }: Server): Promise<number> => {
  child.send('collect');
  const [usage] = await once(child, 'message');
  const { heapUsed, external } = usage as NodeJS.MemoryUsage;
  return heapUsed + external;
};

/** The p99 in milliseconds of the event-loop delay since the last call, for a server that reports its delay. */
export const readOwnDelay = async ({ child }: Server): Promise<number> => {
  child.send('delay');
  const [ms] = await once(child, 'message');
  return ms as number;
};
