import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { constants as systemConstants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { awaitWithin } from '../../lib/scheduling.ts';
import { explainSystemError } from '../stdio.ts';

/**
 * End of a program: the exit code that a shell would report and, for a failure, the reason as a clause without a
 * subject.
 */
interface Ending {
  exitCode: number;
  failure?: string;
}

interface WrappedEnding extends Ending {
  isStarted: boolean;
  drain(): Promise<void>;
}

/** Callbacks about a running program. */
interface Listener {
  /** Receives a copy of each piece of output. */
  keep(chunk: Buffer): void;
  /** Called when the program has ended. More output may follow. */
  ended(): void;
}

/**
 * Milliseconds to wait for the end of the output, because a background process of the program can keep the output open.
 */
const outputWaitMs = 1000;

/** Forwarded signals. */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** Signals that the terminal sends to the program itself. */
const sentByTerminal = new Set<NodeJS.Signals>(['SIGINT', 'SIGHUP', 'SIGQUIT']);

/**
 * Runs a program without a shell, using this process's stdin. Forwards its output, and the signals that this process
 * receives. Resolves once the program has ended and its output is complete, or 1 s after its end. Later output is still
 * forwarded until this process exits. `drain` resolves once a slow reader has read all output.
 */
export const runWrapped = async (
  [program = '', ...args]: readonly string[],
  { keep, ended: onEnded }: Listener,
): Promise<WrappedEnding> => {
  const passOn = (signal: NodeJS.Signals): void => {
    if (!(process.stdin.isTTY && sentByTerminal.has(signal)) && !(child instanceof Error)) child.kill(signal);
  };
  const pipes = createPipes();
  const [out, err] = pipes ?? [];
  const stdio: StdioOptions = ['inherit', out?.writer ?? 'pipe', err?.writer ?? 'pipe'];
  const child = startChild(program, args, stdio);
  for (const { writer } of pipes ?? []) closeSync(writer);
  if (child instanceof Error) {
    for (const { reader } of pipes ?? []) reader.destroy();
    onEnded();
    return describeStartFailure(program, child);
  }
  for (const signal of signals) process.on(signal, passOn);
  const ended = once(child, 'exit');
  const unwritten: NodeJS.ErrnoException[] = [];
  const onError = (error: NodeJS.ErrnoException) => void unwritten.push(error);
  const complete = Promise.all([
    passOutput(out?.reader ?? child.stdout, process.stdout, keep, onError),
    passOutput(err?.reader ?? child.stderr, process.stderr, keep, onError),
  ]);
  try {
    const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
    onEnded();
    await awaitWithin(outputWaitMs, complete);
    const ending = addUnwritten(describeEnding(code, signal), unwritten);
    return { ...ending, isStarted: true, drain: () => drain(complete) };
  } catch (error) {
    onEnded();
    return describeStartFailure(program, error as Error);
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
};

/**
 * Creates named pipes for stdout and stderr. Node's own are sockets, and a script cannot open a socket as /dev/stdout.
 * Undefined if mkfifo(1) or a folder is missing. Most programs work with sockets.
 */
const createPipes = (): { reader: Socket; writer: number }[] | undefined => {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-run-'));
    const paths = [join(folder, 'stdout'), join(folder, 'stderr')];
    if (spawnSync('mkfifo', paths, { stdio: 'ignore' }).status !== 0) return undefined;
    return paths.map((path) => {
      // With this order and mode, neither end blocks waiting for the other.
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

/** Forwards the output. Resolves once it is complete. */
const passOutput = async (
  output: Readable | null,
  target: NodeJS.WriteStream,
  keep: (chunk: Buffer) => void,
  onError: (error: NodeJS.ErrnoException) => void,
): Promise<void> => {
  if (!output) return;
  const closed = once(output, 'close');
  output.on('data', keep).pipe(target, { end: false });
  target.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') onError(error);
    // The program must notice that it cannot write, just as it would without this wrapper.
    output.destroy();
  });
  await closed;
};

const drain = async (complete: Promise<unknown>): Promise<void> => {
  const isSlow = () => [process.stdout, process.stderr].some(({ writableNeedDrain }) => writableNeedDrain);
  while (isSlow() && (await awaitWithin(100, complete)) === undefined);
};

/** Turns lost output into a failure, even if the program did not notice the loss. */
const addUnwritten = (ending: Ending, [error]: readonly NodeJS.ErrnoException[]): Ending => {
  if (error === undefined) return ending;
  const problem = `its output could not be written: ${explainSystemError(error)}`;
  const failure = ending.failure === undefined ? `ended, but ${problem}` : `${ending.failure}, and ${problem}`;
  return { ...ending, exitCode: ending.exitCode || 1, failure };
};

const describeEnding = (code: number | null, signal: NodeJS.Signals | null): Ending => {
  if (signal !== null) return { exitCode: 128 + systemConstants.signals[signal], failure: `was ended by ${signal}` };
  return code ? { exitCode: code, failure: `failed with exit code ${code}` } : { exitCode: 0 };
};

/** Starts the program. Node throws some system errors and emits others as events. */
const startChild = (program: string, args: readonly string[], stdio: StdioOptions): ChildProcess | Error => {
  try {
    return spawn(program, args, { stdio });
  } catch (error) {
    return error as Error;
  }
};

/** Error codes that shells report as a command that was not found. */
const notFound = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/**
 * Describes a failed start. Uses the exit codes of shells: 127 for a command that was not found, 126 for a file that
 * cannot be executed.
 */
const describeStartFailure = (program: string, error: NodeJS.ErrnoException): WrappedEnding =>
  toUnstarted(explainStartFailure(program, error), notFound.has(error.code ?? '') ? 127 : 126);

export const toUnstarted = (reason: string, exitCode = 126): WrappedEnding => ({
  exitCode,
  failure: `could not be started: ${reason}`,
  isStarted: false,
  drain: async () => undefined,
});

const explainStartFailure = (program: string, error: NodeJS.ErrnoException): string => {
  if (error.code === 'EACCES') return 'the file is not executable';
  if (error.code !== 'ENOENT') return explainSystemError(error);
  const isThere = program.includes('/') && existsSync(program);
  return isThere ? 'the interpreter in the first line of the file does not exist' : 'the program does not exist';
};

const maxTailBytes = 4096;
const maxTailLines = 20;

/** Last 20 lines of a program's output, at most 4 KiB. */
export class OutputTail {
  #bytes: Buffer = Buffer.alloc(0);
  readonly #secret: string;
  readonly #keptBytes: number;

  /** Masks `secret`, an ASCII string, as `***`. */
  constructor(secret = '') {
    this.#secret = secret;
    // Keeps extra bytes to find a secret that begins before the tail.
    this.#keptBytes = maxTailBytes + secret.length;
  }

  readonly add = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-this.#keptBytes)]).subarray(-this.#keptBytes);
  };

  /**
   * Returns the output without colours and other control characters. For overwritten lines, such as progress bars,
   * returns only the last state.
   */
  get text(): string {
    const bytes = this.#mask().subarray(-maxTailBytes);
    const start = bytes.findIndex((byte) => byte >> 6 !== 0b10);
    const stars = '*'.repeat(this.#secret.length);
    const lines = stripVTControlCharacters(bytes.subarray(Math.max(start, 0)).toString())
      .replaceAll(stars || '***', '***')
      .trimEnd()
      .split(/\r?\n/);
    return lines
      .slice(-maxTailLines)
      .map((line) => line.slice(line.trimEnd().lastIndexOf('\r') + 1).replaceAll(/[^\P{Cc}\t]/gu, ''))
      .join('\n');
  }

  /** Masks the secret without changing the length of the output, so that the tail begins at the same byte. */
  #mask(): Buffer {
    if (this.#secret === '') return this.#bytes;
    const text = this.#bytes.toString('latin1').replaceAll(this.#secret, '*'.repeat(this.#secret.length));
    return Buffer.from(text, 'latin1');
  }
}
