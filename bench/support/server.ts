import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atExit } from '../../test/faults/support/exit.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { send } from './ask.ts';
import { type Place, pin } from './machine.ts';
import type { Scope } from './scope.ts';

interface Running {
  child: ChildProcess;
  pid: number;
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
  /** The end of its output. */
  printed(): string;
}

/** How to start a server. */
export interface ServerOptions {
  /** The command line for a port of 127.0.0.1; it runs in the scope's folder. */
  command(port: number): string[];
  /** A path that responds once the server is up. */
  path: string;
  /** Files that it reads, written to the scope's folder. */
  files?: Record<string, string>;
  variables?: Record<string, string>;
  hasChannel?: boolean;
  /** A free one by default. */
  port?: number;
  /** The processor for servers by default. */
  place?: Place | undefined;
}

export interface Server extends Running {
  url: string;
  /** Milliseconds from process start to the first complete response, and the bytes of that. */
  startMs: number;
  firstBytes: number;
}

/** Interval of readiness checks: short compared with a startup. */
const pollMs = 2;
const patienceMs = 120_000;

/** Starts a server that ends with the scope. */
export const startServer = async (scope: Scope, options: ServerOptions): Promise<Server> => {
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
  const running = run(scope, line, { cwd: scope.folder, env, hasChannel });
  for (;;) {
    const first = await send(`${url}${path}`, { agent });
    const startMs = performance.now() - began;
    if (first) return { ...running, url, startMs, firstBytes: Buffer.byteLength(first.text) };
    const { child, kill, printed } = running;
    if (child.exitCode !== null || child.pid === undefined || startMs > patienceMs) {
      await kill();
      throw new Error(`${line.join(' ')} does not start:\n${printed()}`);
    }
    await setTimeout(pollMs);
  }
};

/** Starts a program that ends with the scope, or with this process. */
const run = (
  scope: Scope,
  [program = '', ...args]: string[],
  { hasChannel, ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; hasChannel: boolean },
): Running => {
  const stdio = ['ignore', 'pipe', 'pipe', ...(hasChannel ? ['ipc' as const] : [])] as const;
  const child = spawn(program, args, { ...options, stdio: [...stdio] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = `${printed}${text}`.slice(-4000);
    });
  }
  const forget = atExit(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(forget, forget);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  scope.after(kill);
  return { child, pid: child.pid ?? 0, kill, printed: () => printed };
};

/**
 * Starts a compiled module of bench as a process, so that the load it creates does not delay measurements here, and
 * sends it an order. Resolves to its id and its first message; it ends with the scope.
 */
export const startCompanion = async <T>(
  scope: Scope,
  module: string,
  order: object,
  place: Place = 'load',
): Promise<{ pid: number; message: T }> => {
  const file = fileURLToPath(new URL(`../${module}.js`, import.meta.url));
  const { child, pid, printed } = run(scope, pin(place, [process.execPath, file]), { hasChannel: true });
  child.send(order);
  const ended = once(child, 'disconnect').then(() => Promise.reject(new Error(`${module} has ended: ${printed()}`)));
  const [message] = await Promise.race([once(child, 'message'), ended]);
  return { pid, message: message as T };
};
