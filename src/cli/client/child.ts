import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants as systemConstants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

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
  const pipes = createPipes();
  const [out, err] = pipes ?? [];
  const stdio: StdioOptions = ['inherit', out?.writer ?? 'pipe', err?.writer ?? 'pipe'];
  const child: ChildProcess = spawn(program, args, { stdio });
  for (const { writer } of pipes ?? []) closeSync(writer);
  const ended = once(child, 'exit');
  const complete = [
    passOutput(out?.reader ?? child.stdout, process.stdout, keep),
    passOutput(err?.reader ?? child.stderr, process.stderr, keep),
  ];
  try {
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
    await Promise.all(complete);
    return describeEnding(code, signal);
  } catch (error) {
    return describeStartFailure(error as NodeJS.ErrnoException);
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
};

/**
 * Pipes for stdout and stderr: those that Node makes are sockets, which a script cannot open as /dev/stdout. Undefined where
 * mkfifo(1) or a folder for it is missing; sockets do for most programs.
 */
const createPipes = (): { reader: Socket; writer: number }[] | undefined => {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-run-'));
    const paths = [join(folder, 'stdout'), join(folder, 'stderr')];
    if (spawnSync('mkfifo', paths, { stdio: 'ignore' }).status !== 0) return undefined;
    return paths.map((path) => {
      // In this order and so opened, neither waits for the other.
      const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      return {
        reader: new Socket({ fd, readable: true, writable: false }),
        writer: openSync(path, constants.O_WRONLY),
      };
    });
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
};

/** Resolves once the output is complete. */
const passOutput = async (
  output: Readable | null,
  target: NodeJS.WriteStream,
  keep: (chunk: Buffer) => void,
): Promise<void> => {
  if (!output) return;
  const closed = once(output, 'close');
  output.on('data', keep).pipe(target, { end: false });
  // Nobody reads any more: the program has to notice it, as it would without this one.
  target.on('error', () => output.destroy());
  await closed;
};

const describeEnding = (code: number | null, signal: NodeJS.Signals | null): Ending => {
  if (signal !== null) return { exitCode: 128 + systemConstants.signals[signal], failure: `was ended by ${signal}` };
  return code === 0 || code === null ? { exitCode: 0 } : { exitCode: code, failure: `failed with exit code ${code}` };
};

/** With the exit codes of shells. */
const describeStartFailure = ({ code, message }: NodeJS.ErrnoException): Ending => {
  if (code === 'ENOENT') return { exitCode: 127, failure: 'could not be started: there is no such program' };
  const reason = code === 'EACCES' ? 'it is not executable' : message;
  return { exitCode: 126, failure: `could not be started: ${reason}` };
};
