import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atExit } from '../../test/faults/support/exit.ts';
import { createAutocannonArgs, parseAutocannonOutput } from './autocannon.ts';
import { bindTo, type Cores } from './cores.ts';
import { findProgram } from './programs.ts';
import { createScript, createWrkArgs, parseWrkOutput } from './wrk.ts';

/** One request, repeated on every connection as soon as the response arrives. */
export interface LoadRequest {
  url: string;
  method?: 'GET' | 'POST';
  /** Each `[<id>]` in it becomes a text that no other request has. */
  body?: string;
  headers?: Record<string, string>;
  connections?: number;
  seconds: number;
}

export interface LoadFigures {
  answers: number;
  perSecond: number;
  p99Ms: number;
}

export interface Load {
  /** Resolves to the figures; rejects if a request failed. */
  run(request: LoadRequest): Promise<LoadFigures>;
  /** Sends a request about `amount` times, as fast as responses arrive; autocannon leaves out the last few. */
  send(request: Omit<LoadRequest, 'seconds'>, amount: number): Promise<void>;
}

const runFile = promisify(execFile);
const maxBuffer = 16 * 1024 * 1024;

/** Load from wrk, or from autocannon if wrk is missing; `folder` is for scripts. */
export const createLoad = (folder: string, cores: Cores | undefined): Load => {
  const wrk = findProgram('wrk');
  const runBound = async (command: string[]): Promise<string> => {
    const [program = '', ...args] = bindTo(cores?.load, command);
    const running = runFile(program, args, { maxBuffer });
    const forget = atExit(() => running.child.kill('SIGKILL'));
    const { stdout } = await running.finally(forget);
    return stdout;
  };
  const cannon = (...args: Parameters<typeof createAutocannonArgs>) =>
    runBound([process.execPath, ...createAutocannonArgs(...args)]).then(parseAutocannonOutput);
  let scripts = 0;
  return {
    run: async (request) => {
      if (wrk === undefined) return cannon(request);
      const script = join(folder, `load-${++scripts}.lua`);
      writeFileSync(script, createScript(request));
      return parseWrkOutput(await runBound([wrk, ...createWrkArgs(script, request)]));
    },
    send: async (request, amount) => {
      await cannon({ ...request, connections: 8, pipelining: 10, seconds: 600, amount });
    },
  };
};
