import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atExit } from '../../test/faults/support/exit.ts';
import { findFreePort } from '../../test/support/free-port.ts';
import { send } from './ask.ts';
import { bindTo, type Cores } from './cores.ts';
import type { Scope } from './scope.ts';

interface Running {
  child: ChildProcess;
  pid: number;
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
  /** The end of its output. */
  printed(): string;
}

export interface ServerOptions {
  /** The command line for a port of 127.0.0.1. */
  command(port: number): string[];
  /** A path that responds once the server is up. */
  path: string;
  variables?: Record<string, string>;
  hasChannel?: boolean;
  /** A free one by default. */
  port?: number;
}

export interface Server extends Running {
  url: string;
  /** Milliseconds from process start to the first complete response. */
  startMs: number;
}

/** Interval of readiness checks: short compared with a startup. */
const pollMs = 2;
const patienceMs = 120_000;

/** Starts a server that ends with the scope, on the processor for servers if there is one. */
export const startServer = async (
  scope: Scope,
  cores: Cores | undefined,
  { command, path, variables = {}, hasChannel = false, port: chosen }: ServerOptions,
): Promise<Server> => {
  const port = chosen ?? (await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent();
  const env = { PATH: process.env['PATH'] ?? '', HOME: scope.folder, TMPDIR: scope.folder, ...variables };
  const began = performance.now();
  const line = bindTo(cores?.server, command(port));
  const running = run(scope, line, { cwd: scope.folder, env, hasChannel });
  while ((await send(`${url}${path}`, { agent })) === undefined) {
    const { child, kill, printed } = running;
    if (child.exitCode !== null || child.pid === undefined || performance.now() - began > patienceMs) {
      await kill();
      throw new Error(`${line.join(' ')} does not start:\n${printed()}`);
    }
    await setTimeout(pollMs);
  }
  return { ...running, url, startMs: performance.now() - began };
};

/** Starts a program that ends with the scope, or with this process. */
const run = (
  scope: Scope,
  [program = '', ...args]: string[],
  { hasChannel, ...options }: { cwd?: string; env?: NodeJS.ProcessEnv; hasChannel: boolean },
): Running => {
  const child = spawn(program, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe', ...(hasChannel ? ['ipc' as const] : [])],
  });
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
  scope.atEnd(kill);
  return { child, pid: child.pid ?? 0, kill, printed: () => printed };
};

/** A separate process that creates load for a server, so that creating it does not delay the measurements here. */
export interface Companion<T> {
  pid: number;
  /** The next message of the process; throws if it ends before. */
  read(): Promise<T>;
  kill(): Promise<void>;
}

/** Starts a compiled module of bench on the processor for loads and sends it an order; it ends with the scope. */
export const startCompanion = <T>(
  scope: Scope,
  cores: Cores | undefined,
  module: string,
  order: object,
): Companion<T> => {
  const file = fileURLToPath(new URL(`../${module}.js`, import.meta.url));
  const { child, pid, kill, printed } = run(scope, bindTo(cores?.load, [process.execPath, file]), { hasChannel: true });
  child.send(order);
  const messages: T[] = [];
  let wake = (): void => undefined;
  child.on('message', (message) => {
    messages.push(message as T);
    wake();
  });
  child.on('disconnect', () => wake());
  return {
    pid,
    kill,
    read: async () => {
      while (messages.length === 0) {
        if (!child.connected) throw new Error(`${module} has ended: ${printed()}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return messages.shift() as T;
    },
  };
};
