import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

/** How a program ended: as its shell would report it, and, if it failed, why, as a clause without a subject. */
export interface Ending {
  exitCode: number;
  failure?: string;
}

/** Signals that are passed on. */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** A terminal sends these to the program itself, too. */
const sentByTerminal = new Set<NodeJS.Signals>(['SIGINT', 'SIGHUP', 'SIGQUIT']);

/**
 * Runs a program without a shell, with this process's stdin; its output and the signals that this process gets are passed
 * on. `keep` gets the output, too. Resolves once it has ended and its output is complete.
 */
export const runChild = async (
  [program = '', ...args]: readonly string[],
  keep: (chunk: Buffer) => void,
): Promise<Ending> => {
  const passOn = (signal: NodeJS.Signals): void => {
    if (!(process.stdin.isTTY && sentByTerminal.has(signal))) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  const child = spawn(program, args, { stdio: ['inherit', 'pipe', 'pipe'] });
  passOutput(child, 'stdout', keep);
  passOutput(child, 'stderr', keep);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    return describeEnding(code, signal);
  } catch (error) {
    return describeStartFailure(error as NodeJS.ErrnoException);
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
};

const passOutput = (child: ChildProcess, name: 'stdout' | 'stderr', keep: (chunk: Buffer) => void): void => {
  const output = child[name];
  output?.on('data', keep);
  output?.pipe(process[name], { end: false });
  // Nobody reads any more: the program has to notice it, as it would without this one.
  process[name].on('error', () => output?.destroy());
};

const describeEnding = (code: number | null, signal: NodeJS.Signals | null): Ending => {
  if (signal !== null) return { exitCode: 128 + constants.signals[signal], failure: `was ended by ${signal}` };
  return code === 0 || code === null ? { exitCode: 0 } : { exitCode: code, failure: `failed with exit code ${code}` };
};

/** With the exit codes of shells. */
const describeStartFailure = ({ code, message }: NodeJS.ErrnoException): Ending => {
  if (code === 'ENOENT') return { exitCode: 127, failure: 'could not be started: there is no such program' };
  const reason = code === 'EACCES' ? 'it is not executable' : message;
  return { exitCode: 126, failure: `could not be started: ${reason}` };
};
