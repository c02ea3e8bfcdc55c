import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../test/support/free-port.ts';
import { send } from './ask.ts';
import { type Place, pin } from './machine.ts';
import type { Scope } from './scope.ts';

/** How to start a server. */
export interface ServerOptions {
  /** The command line for a port of 127.0.0.1; it runs in the scope's folder. */
  command(port: number): string[];
  /** A path that responds once the server is up. */
  path: string;
  /** Files that it reads, written to the scope's folder. */
  files?: Record<string, string>;
  variables?: Record<string, string>;
  /** True for a program in Node that answers messages. */
  hasChannel?: boolean;
  /** A free one by default. */
  port?: number;
  /** The processor for servers by default. */
  place?: Place | undefined;
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Interval of readiness checks: short compared with a startup. */
const pollMs = 2;
const patienceMs = 120_000;

/**
 * Starts a server that ends with the scope; `startMs` is the time from its start to the first complete response, and
 * `firstBytes` the length of that.
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

/** Starts a program that ends with the scope; `printed` returns the end of its output. */
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

const companion = fileURLToPath(new URL('./companion.js', import.meta.url));

/**
 * Calls the function `start` of a module of bench in a process of its own, so that the load it creates does not delay
 * measurements here. Resolves to the process id and the result; the process ends with the scope.
 */
export const startCompanion = async <Start extends (...args: never[]) => unknown>(
  scope: Scope,
  module: string,
  args: Parameters<Start>,
  place: Place = 'load',
): Promise<{ pid: number; result: Awaited<ReturnType<Start>> }> => {
  const { child, pid, printed } = run(scope, pin(place, [process.execPath, companion]), true);
  child.send({ module: new URL(`../${module}.js`, import.meta.url).href, args });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'disconnect')]);
  if (message === undefined) throw new Error(`${module} has ended: ${printed()}`);
  return { pid, result: message.result };
};
