import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createFolder } from '../../support/folder.ts';
import { command, type Running, runProgram } from '../../support/program.ts';
import { atEnd, type Scope } from '../../support/scope.ts';
import { waitUntil } from '../../support/wait.ts';

export interface Agent {
  child: ChildProcess;
  dataDir: string;
  output: { stdout: string; stderr: string };
  /** Sends the signal and waits for the agent to exit. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Sends an alert through the socket. Resolves to the alert's id. */
  send(...args: string[]): Promise<string>;
}

/** Creates a host with the command `add-host`. Resolves to the words of the printed line. */
export const addHost = async (hub: Pick<Running, 'url'>, token: string, name: string): Promise<string[]> => {
  const variables = { SIGNALBOX_URL: hub.url, SIGNALBOX_KEY: token };
  const { stdout, stderr } = await runProgram(['add-host', name], { variables });
  if (stderr !== '') throw new Error(stderr);
  return stdout.trim().split(' ').slice(1);
};

/**
 * Starts an agent with the words from `add-host`, and waits until it listens. The agent is killed when the test ends.
 */
export const startAgent = async (
  t: Scope,
  words: readonly string[],
  {
    dataDir = createFolder(t),
    variables = {},
    wrapper = [],
  }: {
    dataDir?: string;
    variables?: Record<string, string>;
    /** Program that becomes the agent, with its arguments. */
    wrapper?: readonly string[];
  } = {},
): Promise<Agent> => {
  const [program = '', ...first] = [...wrapper, ...command];
  const child = spawn(program, [...first, ...words, '--data-dir', dataDir], {
    env: { PATH: process.env['PATH'], SIGNALBOX_DEFAULT_WATCHES: 'false', ...variables },
    cwd: dataDir,
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  atEnd(t, async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  await waitUntil('the agent listens', () => {
    if (child.exitCode !== null) throw new Error(`the agent ended: ${output.stderr}`);
    return output.stdout.includes('reports to');
  });
  return {
    child,
    dataDir,
    output,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
    send: async (...args) => {
      const { stdout, stderr, code } = await runProgram(['send', '--data-dir', dataDir, '--verbose', ...args]);
      if (code !== 0) throw new Error(stderr);
      return stdout.trim();
    },
  };
};
