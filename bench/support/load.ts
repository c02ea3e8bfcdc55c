import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atExit } from '../../test/faults/support/exit.ts';
import { createAutocannonArgs, parseAutocannonOutput } from './autocannon.ts';
import { bindTo, type Cores } from './cores.ts';
import { findProgram } from './programs.ts';
import { createScript, createWrkArgs, parseWrkOutput } from './wrk.ts';

/** One request, sent again and again on every connection as soon as it is answered. */
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
  /** Answers what was counted; fails where a request did. */
  run(request: LoadRequest): Promise<LoadFigures>;
  /** Sends a request about so many times, as fast as answers come: autocannon leaves out a few of the last. */
  send(request: Omit<LoadRequest, 'seconds'>, amount: number): Promise<void>;
}

const runFile = promisify(execFile);
const maxBuffer = 16 * 1024 * 1024;

/** Load by wrk, or by autocannon where that is missing; `folder` is for scripts. */
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
