import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../../test/support/config-file.ts';
import { password } from './ask.ts';
import type { Place } from './machine.ts';
import type { Scope } from './scope.ts';
import { type Server, startServer } from './server.ts';
import { writeSeed } from './tasks.ts';

const main = fileURLToPath(new URL('../../signalbox.js', import.meta.url));

/** The single executable, if it has been built. */
export const executable = fileURLToPath(new URL('../../signalbox-linux-x64', import.meta.url));

/** Node flags that make the server answer messages with the memory in use. */
const reporting = ['--expose-gc', '--import', new URL('./report-memory.js', import.meta.url).href];

export interface SignalboxOptions {
  flags?: string[];
  variables?: Record<string, string>;
  /** Settings of the configuration file. */
  config?: object;
  /** The data directory; a new folder by default. */
  dataDir?: string;
  /** How many tasks it starts with. */
  tasks?: number;
  /** True for a server that `readMemory` can ask. */
  reportsMemory?: boolean;
  /** A program, with its arguments, that runs the server. */
  wrapper?: string[];
  /** True for the single executable. */
  isExecutable?: boolean;
  place?: Place;
}

/** Starts the built program, with every profile unless the flags name some. */
export const startSignalbox = async (
  scope: Scope,
  { flags = [], variables, config, dataDir, tasks, wrapper = [], ...options }: SignalboxOptions = {},
): Promise<Server> => {
  const { reportsMemory = false, isExecutable = false, place } = options;
  const seed = join(scope.folder, `${tasks}.json`);
  if (tasks !== undefined && !existsSync(seed)) await writeSeed(seed, tasks);
  const settings = config && ['--config', writeConfig(scope.folder, config, `config-${randomUUID()}.json`)];
  return startServer(scope, {
    command: (port) => [
      ...wrapper,
      ...(isExecutable ? [executable] : [process.execPath, ...(reportsMemory ? reporting : []), main]),
      ...['--port', String(port), '--data-dir', dataDir ?? `data-${port}`],
      ...(tasks === undefined ? [] : ['--seed', seed]),
      ...(settings ?? []),
      ...flags,
    ],
    path: '/health',
    variables: { SIGNALBOX_ADMIN_PASSWORD: password, ...variables },
    hasChannel: reportsMemory,
    place,
  });
};

/** MiB in use and resident in a server that reports its memory, after a garbage collection. */
export const readMemory = async ({ child }: Server): Promise<{ live: number; resident: number }> => {
  child.send('collect');
  const [{ heapUsed, external, rss }] = (await once(child, 'message')) as [NodeJS.MemoryUsage];
  return { live: (heapUsed + external) / 2 ** 20, resident: rss / 2 ** 20 };
};
