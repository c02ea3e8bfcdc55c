import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { atExit } from '../../test/faults/support/exit.ts';

const pollMs = 20;
const patienceMs = 120_000;

interface Options {
  /** All environment variables of the program; by default those of this process. */
  env?: Record<string, string>;
  cwd?: string;
  /** Opens a message channel between two Node processes. */
  hasChannel?: boolean;
  /** Milliseconds between readiness checks. */
  pollMs?: number;
}

export interface Program {
  child: ChildProcess;
  pid: number;
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>;
}

/**
 * Starts a program in the foreground; resolves once `isReady`, and rejects with its output if that never happens. It
 * ends with this process at the latest.
 */
export const startProgram = async (
  name: string,
  args: string[],
  isReady: () => Promise<boolean>,
  options: Options = {},
): Promise<Program> => {
  const child = spawn(name, args, {
    stdio: ['ignore', 'pipe', 'pipe', ...(options.hasChannel ? ['ipc' as const] : [])],
    ...(options.env && { env: options.env }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  const readPrinted = keepPrinted(child);
  const forget = atExit(() => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(forget, forget);
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  const wait = () => setTimeout(options.pollMs ?? pollMs);
  for (const deadline = performance.now() + patienceMs; !(await isReady()); await wait()) {
    if (hasEnded(child) || performance.now() > deadline) {
      await kill();
      throw new Error(`${[name, ...args].join(' ')} does not start:\n${readPrinted()}`);
    }
  }
  return { child, pid: child.pid ?? 0, kill };
};

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** Keeps the end of a program's output, reading it continuously so that the program never blocks. */
const keepPrinted = ({ stdout, stderr }: ChildProcess): (() => string) => {
  let printed = '';
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed = `${printed}${text}`.slice(-4000);
    });
  }
  return () => printed;
};
