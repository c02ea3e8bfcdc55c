import { type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { atExit } from '../../test/lab/faults/support/exit.ts';
import { writeConfig } from '../../test/support/config-file.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { compile, root } from './compile.ts';
import { type Place, pin } from './machine.ts';
import { ask, password, send } from './requests.ts';
import { writeSeed } from './tasks.ts';

/** Resources that are set up and cleaned up together. */
export interface Scope {
  /** Temporary folder. Deleted last. */
  folder: string;
  /**
   * Registers a cleanup step. Steps run in reverse order. If this process ends early, only the synchronous parts of the
   * steps run.
   */
  after(step: () => unknown): void;
  end(): Promise<void>;
}

export const createScope = (parent: string): Scope => {
  const folder = mkdtempSync(join(parent, 'signalbox-bench-'));
  const steps: (() => unknown)[] = [];
  const after = (step: () => unknown): void => void steps.push(step, atExit(step));
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return {
    folder,
    after,
    end: async () => {
      for (const step of steps.splice(0).reverse()) await step();
    },
  };
};

/** Runs work in a new scope. The scope ends when the work is done. */
export const withScope = async <T>(parent: string, work: (scope: Scope) => Promise<T>): Promise<T> => {
  const scope = createScope(parent);
  try {
    return await work(scope);
  } finally {
    await scope.end();
  }
};

export interface ServerOptions {
  /** Returns the command line for a port on 127.0.0.1. It runs in the folder of the scope. */
  command(port: number): string[];
  /** Path that responds once the server is up. */
  path: string;
  /** Files of the server. They are written to the folder of the scope. */
  files?: Record<string, string>;
  variables?: Record<string, string>;
  /** True for a Node program that answers messages. */
  hasChannel?: boolean;
  /** Port. Default: a free port. */
  port?: number;
  /** Processor. Default: the processor for servers. */
  place?: Place | undefined;
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Milliseconds between readiness checks. Short compared with a startup. */
const pollMs = 2;
const patienceMs = 120_000;

/**
 * Starts a server that stops at the end of the scope. `startMs` is the time until the first response, and `firstBytes`
 * is the length of that response.
 */
export const startServer = async (scope: Scope, options: ServerOptions) => {
  const { command, path, files = {}, variables, hasChannel = false, place = 'server' } = options;
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(scope.folder, name)), { recursive: true });
    writeFileSync(join(scope.folder, name), text, { mode: 0o600 });
  }
  const port = options.port ?? (await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent();
  const env = { PATH: process.env['PATH'] ?? '', HOME: scope.folder, TMPDIR: scope.folder, ...variables };
  const line = pin(place, command(port));
  const began = performance.now();
  const { child, pid, printed } = run(scope, line, hasChannel, { cwd: scope.folder, env });
  for (;;) {
    const first = await send(`${url}${path}`, { agent });
    const startMs = performance.now() - began;
    if (first) return { child, pid, url, startMs, firstBytes: Buffer.byteLength(first.text) };
    if (child.exitCode !== null || pid === 0 || startMs > patienceMs) {
      throw new Error(`${line.join(' ')} does not start:\n${printed()}`);
    }
    await setTimeout(pollMs);
  }
};

/** Starts a program that is stopped at the end of the scope. `printed` returns the end of its output. */
const run = (scope: Scope, [program = '', ...args]: string[], hasChannel: boolean, options: SpawnOptions = {}) => {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', hasChannel ? 'ipc' : 'ignore'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = `${printed}${text}`.slice(-4000);
    });
  }
  const ended = once(child, 'close').catch(() => undefined);
  scope.after(() => {
    child.kill('SIGKILL');
    return ended;
  });
  return { child, pid: child.pid ?? 0, printed: () => printed };
};

const main = join(root, 'dist', 'signalbox.js');

/** Path of the single executable, if it has been built. */
export const executable = join(root, 'dist', 'signalbox-linux-x64');

/** Returns the Node flags that make the server answer messages with the memory in use. */
const toReporting = (): string[] => ['--expose-gc', '--import', compile('bench/support/report-memory')];

export interface SignalboxOptions {
  flags?: string[];
  variables?: Record<string, string>;
  config?: object;
  /** Data directory. Default: a new folder. */
  dataDir?: string;
  /** Initial number of tasks. */
  tasks?: number;
  /** True for a server whose memory can be read by `readMemory`. */
  reportsMemory?: boolean;
  /** Program, with its arguments, that runs the server. */
  wrapper?: string[];
  isExecutable?: boolean;
  place?: Place;
}

/** Starts the built program with every profile, unless the flags name profiles. */
export const startSignalbox = async (scope: Scope, options: SignalboxOptions = {}): Promise<Server> => {
  const { flags = [], config, dataDir, tasks, wrapper = [], reportsMemory = false, isExecutable = false } = options;
  const seed = join(scope.folder, `${tasks}.json`);
  if (tasks !== undefined && !existsSync(seed)) await writeSeed(seed, tasks);
  const settings = config && ['--config', writeConfig(scope.folder, config, `config-${randomUUID()}.json`)];
  return startServer(scope, {
    command: (port) => [
      ...wrapper,
      ...(isExecutable ? [executable] : [process.execPath, ...(reportsMemory ? toReporting() : []), main]),
      ...['--port', String(port), '--data-dir', dataDir ?? `data-${port}`],
      ...(tasks === undefined ? [] : ['--seed', seed]),
      ...(settings ?? []),
      ...flags,
    ],
    path: '/health',
    variables: { SIGNALBOX_ADMIN_PASSWORD: password, ...options.variables },
    hasChannel: reportsMemory,
    place: options.place,
  });
};

/** Reads the used and resident memory in MiB, after a garbage collection, of a server that reports its memory. */
export const readMemory = async ({ child }: Server): Promise<{ live: number; resident: number }> => {
  child.send('collect');
  const [{ heapUsed, external, rss }] = (await once(child, 'message')) as [NodeJS.MemoryUsage];
  return { live: (heapUsed + external) / 2 ** 20, resident: rss / 2 ** 20 };
};

/** Starts signalbox on a log. When the whole log is searchable, resolves to the seconds that this took. */
export const startSearchable = async (scope: Scope, options: SignalboxOptions) => {
  const began = performance.now();
  const server = await startSignalbox(scope, options);
  for (;;) {
    const answer = await ask({ url: `${server.url}/api/alerts/histogram?since=1970-01-01T00:00:00Z` });
    const seconds = (performance.now() - began) / 1000;
    if (JSON.parse(answer).complete) return { ...server, seconds, bytes: Buffer.byteLength(answer) };
    await setTimeout(10);
  }
};

/**
 * Calls the `start` function of a module in a separate process, so that its load does not delay measurements in this
 * process.
 */
export const startCompanion = async <Start extends (...args: never[]) => unknown>(
  scope: Scope,
  module: string,
  args: Parameters<Start>,
  place: Place = 'load',
): Promise<{ pid: number; result: Awaited<ReturnType<Start>> }> => {
  const { child, pid, printed } = run(scope, pin(place, [process.execPath, compile('bench/support/companion')]), true);
  child.send({ module: compile(`bench/${module}`), args });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'disconnect')]);
  if (message === undefined) throw new Error(`${module} has ended: ${printed()}`);
  return { pid, result: message.result };
};
