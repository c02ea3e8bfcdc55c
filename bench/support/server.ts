import { Agent } from 'node:http';
import { findFreePort } from '../../test/support/free-port.ts';
import { bindTo, type Cores } from './cores.ts';
import { send } from './http.ts';
import { type Program, startProgram } from './program.ts';
import type { Scope } from './scope.ts';

export interface ServerOptions {
  /** The command line for a port of 127.0.0.1. */
  command(port: number): string[];
  /** A path that responds once the server is up. */
  path: string;
  cwd?: string;
  variables?: Record<string, string>;
  hasChannel?: boolean;
}

export interface Server extends Program {
  url: string;
  /** Milliseconds from process start to the first complete response. */
  startMs: number;
}

/** Interval of readiness checks: short compared with a startup. */
const pollMs = 2;

/** Starts a server that ends with the scope, on the processor for servers if there is one. */
export const startServer = async (
  scope: Scope,
  cores: Cores | undefined,
  { command, path, cwd = scope.folder, variables = {}, hasChannel = false }: ServerOptions,
): Promise<Server> => {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const agent = new Agent();
  const isReady = async () => (await send(`${url}${path}`, { method: 'GET', agent })) !== undefined;
  const env = { PATH: process.env['PATH'] ?? '', HOME: scope.folder, TMPDIR: scope.folder, ...variables };
  const [program = '', ...args] = bindTo(cores?.server, command(port));
  const began = performance.now();
  const running = await startProgram(program, args, isReady, { env, cwd, hasChannel, pollMs });
  scope.atEnd(running.kill);
  return { ...running, url, startMs: performance.now() - began };
};
