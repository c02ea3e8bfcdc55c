import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../src/server/package-info.ts';
import { createClient, type Request } from './client.ts';
import { type Finished, runInKeptProcess } from './kept-program.ts';
import { atEnd, type Scope } from './scope.ts';
import { extension, loader } from './source.ts';

/** Absolute path of the executable under test. Default: the bundle. */
const executable = process.env['SIGNALBOX_TEST_PROGRAM'];
// Programs started by the tests must not read the variable as a setting.
delete process.env['SIGNALBOX_TEST_PROGRAM'];

/** Folder for the state of commands, to keep that state out of the home directory. */
const state = mkdtempSync(join(tmpdir(), 'signalbox-state-'));
process.once('exit', () => rmSync(state, { recursive: true, force: true }));
process.env['XDG_STATE_HOME'] = state;

const toCommand = (...args: string[]): [string, ...string[]] =>
  executable ? [executable] : [process.execPath, ...args];

/** Bundled program, as published. */
const bundle = toCommand(join(packageRoot, 'dist', 'signalbox.js'));
/**
 * Command line of the program under test. Runs the separate modules to measure coverage, and otherwise the bundle,
 * because it starts faster.
 */
export const command = process.env['NODE_V8_COVERAGE']
  ? toCommand(...loader, fileURLToPath(new URL(`../../src/main${extension}`, import.meta.url)))
  : bundle;

interface Options {
  variables?: Record<string, string>;
  input?: string | Buffer;
  /** Working directory. Default: a new folder that is removed when the program ends. */
  cwd?: string;
  /** Program that runs signalbox, with its arguments. */
  wrapper?: string[];
  bundled?: boolean;
  /** Another program, with its first arguments. */
  program?: readonly string[];
}

export interface Running {
  child: ChildProcess;
  /** URL that the program listens on, e.g. `http://127.0.0.1:43210`. */
  url: string;
  /** Sends a request as a client on this machine would. */
  request: Request;
  /** Output so far. */
  output: { stdout: string; stderr: string };
  /** Sends the signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

/**
 * Runs a command line of the program in a process that is reused for later command lines. This takes only milliseconds.
 * Use `runProgram` for behaviour at the exit of a process.
 */
export const runCommand = async (
  args: string[],
  { variables = {}, cwd, input = '' }: { variables?: Record<string, string>; cwd?: string; input?: string } = {},
): Promise<Finished> => {
  if (executable) return runProgram(args, { variables, input, ...(cwd !== undefined && { cwd }) });
  const folder = cwd ?? mkdtempSync(join(tmpdir(), 'signalbox-'));
  try {
    return await runInKeptProcess({ args, variables: createEnvironment(variables), cwd: folder, input });
  } finally {
    if (cwd === undefined) rmSync(folder, { recursive: true, force: true });
  }
};

/** Runs the program as a separate process until it exits. */
export const runProgram = async (args: string[], options: Options = {}): Promise<Finished> => {
  const { child, ended } = start(args, options);
  child.stdin?.end(options.input ?? '');
  return ended;
};

/** Runs a command line that must be refused, and returns the error lines. */
export const refusal = async (args: string[], code: 1 | 2, variables: Record<string, string> = {}): Promise<string> => {
  const ended = await runCommand(args, { variables });
  assert.equal(ended.code, code, ended.stderr);
  assert.equal(ended.stdout, '');
  const lines = ended.stderr.split('\n');
  assert.equal(lines.pop(), '');
  const [first = '', ...problems] = lines;
  const count = /^signalbox: (\d+) problems (?:in the settings|on the command line):$/.exec(first)?.[1];
  if (count === undefined) {
    assert.deepEqual(problems, []);
    return first.replace(/^signalbox: /, '');
  }
  assert.equal(problems.length, Number(count));
  return problems.map((problem) => problem.replace(/^ {2}/, '')).join('\n');
};

/**
 * Starts the program as a server on a free port and waits until it listens. The server is stopped when the test ends.
 */
export const startProgram = async (t: Scope, args: string[], options: Options = {}): Promise<Running> => {
  const { child, output, ended } = start(['--port', '0', ...args], options);
  atEnd(t, () => child.kill('SIGKILL') && ended);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const address = /listens on (\S+)\n/.exec(output.stdout)?.[1];
      if (address) resolve(address);
    });
    ended.then(({ stderr }) => reject(new Error(`the program ended on startup: ${stderr}`)));
  });
  const client = createClient(url);
  atEnd(t, client.close);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return { child, url, request: client.request, output, stop };
};

/** Creates the environment of a child. The child inherits only PATH and the variable for coverage. */
const createEnvironment = (variables: Record<string, string>): Record<string, string | undefined> => ({
  PATH: process.env['PATH'],
  // Problems with the machine that runs the tests must not open incidents.
  SIGNALBOX_DEFAULT_WATCHES: 'false',
  XDG_STATE_HOME: mkdtempSync(join(state, 'run-')),
  ...(process.env['NODE_V8_COVERAGE'] && { NODE_V8_COVERAGE: process.env['NODE_V8_COVERAGE'] }),
  ...variables,
});

const start = (args: string[], { variables = {}, cwd, wrapper = [], bundled = false, ...others }: Options) => {
  const [program = '', ...programArgs] = [...wrapper, ...(others.program ?? (bundled ? bundle : command)), ...args];
  // Files that the program writes by default must neither end up in the checkout nor be found by the next program.
  const folder = cwd ?? mkdtempSync(join(tmpdir(), 'signalbox-'));
  const child = spawn(program, programArgs, {
    env: createEnvironment(variables),
    cwd: folder,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<Finished>((resolve) =>
    child.on('close', (code, signal) => {
      if (cwd === undefined) rmSync(folder, { recursive: true, force: true });
      resolve({ code, signal, ...output });
    }),
  );
  return { child, output, ended };
};
