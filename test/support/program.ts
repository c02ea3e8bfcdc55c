import { type ChildProcess, spawn } from 'node:child_process';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

/** Compiled module by module, for the coverage of the sources. */
const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));
/** In one file, as it is started and published. */
const bundle = fileURLToPath(new URL('../../signalbox.js', import.meta.url));

interface Options {
  variables?: Record<string, string>;
  input?: string | Buffer;
  cwd?: string;
  /** A program, with its arguments, that runs this one. */
  wrapper?: string[];
  bundled?: boolean;
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** Where it listens, e.g. `http://127.0.0.1:43210`. */
  url: string;
  /** What it printed so far. */
  output: { stdout: string; stderr: string };
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

/** Runs the program to its end. */
export const runProgram = async (args: string[], options: Options = {}): Promise<Finished> => {
  const { child, output } = start(args, options);
  child.stdin?.end(options.input ?? '');
  return finish(child, output);
};

/** Starts the program as a server and waits until it listens; ended with the test. */
export const startProgram = async (
  t: TestContext,
  args: string[],
  options: Options = {},
): Promise<Running> => {
  const { child, output } = start(['--port', '0', ...args], options);
  const ended = finish(child, output);
  t.after(() => child.kill('SIGKILL') && ended);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const address = /listens on (\S+)\n/.exec(output.stdout)?.[1];
      // The whole start message comes in one piece or more; its last line is empty.
      if (address) resolve(address);
    });
    ended.then(({ stderr }) => reject(new Error(`the program ended at the start: ${stderr}`)));
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { child, url, output, stop };
};

const start = (args: string[], { variables = {}, cwd, wrapper = [], bundled = false }: Options) => {
  const file = bundled ? bundle : main;
  const [program = process.execPath, ...programArgs] = [...wrapper, process.execPath, file, ...args];
  const child = spawn(program, programArgs, {
    // Coverage of the child counts too; nothing else of the surroundings reaches it.
    env: {
      PATH: process.env['PATH'],
      ...(process.env['NODE_V8_COVERAGE'] && { NODE_V8_COVERAGE: process.env['NODE_V8_COVERAGE'] }),
      ...variables,
    },
    ...(cwd && { cwd }),
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  return { child, output };
};

const finish = (child: ChildProcess, output: { stdout: string; stderr: string }): Promise<Finished> =>
  new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...output })));
