import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { findProgram } from '../../host/programs.ts';
import { readingSliceMs } from '../../host/reading.ts';
import { Slice } from '../../lib/slice.ts';
import { CommandFailure, type CommandOutput, maxOutputBytes, type OutputRow } from './runner.ts';

/** Nothing from the server's environment, which holds secrets. Messages are in English, without a pager. */
const plainEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' };

/** Time from TERM to KILL, and how long the pipes may stay open without output after the program has exited. */
const graceMs = 500;

const maxStderrLength = 4096;

interface ChildRequest {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  /** Its whole environment, instead of `plainEnvironment`. */
  environment?: Readonly<Record<string, string>>;
  /** All of its standard input; empty by default. */
  input?: string;
  /** Gets each piece of standard output, one after the other; returns false to end the program. */
  onOutput: (piece: Buffer) => boolean | Promise<boolean>;
  signal: AbortSignal;
  /** A program like taskkill that ends a process and its children, for systems without process groups. */
  treeEnder?: string;
}

type Child = ChildProcessWithoutNullStreams;

interface ChildEnd {
  /** Null if a signal ended it. */
  exitCode: number | null;
  /** Its first 4,096 characters, trimmed. */
  stderr: string;
}

/**
 * Runs a program without a shell, in a process group of its own, and resolves when the whole group has ended.
 * Rejects with the signal's reason once it is aborted, with what `onOutput` throws, and with the system's error
 * if the program cannot be started.
 */
export const runChild = async (request: ChildRequest): Promise<ChildEnd> => {
  const { onOutput, signal } = request;
  signal.throwIfAborted();
  const child = start(request);
  const closed = once(child, 'close');
  // Without a process there may be no pipes either, e.g. when no file descriptors are left.
  if (child.pid === undefined) await closed;
  const output = passOutput(child, onOutput, () => end());
  const end = createGroupEnd(child, request.treeEnder, output.isQuiet);
  // A program may exit before it has read its input; its output and exit code say whether it failed.
  child.stdin.on('error', () => {}).end(request.input);
  const readStderr = keepStderr(child);
  signal.addEventListener('abort', end, { once: true });
  try {
    const [exitCode] = await closed;
    await output.whenTaken();
    signal.throwIfAborted();
    for (const failure of output.failures) throw failure;
    return { exitCode, stderr: readStderr() };
  } finally {
    signal.removeEventListener('abort', end);
  }
};

/** Like `Promise.all` for children that run together, but settles only when all of them have ended. */
export const allEnded = async <T>(runs: readonly Promise<T>[]): Promise<T[]> => {
  await Promise.allSettled(runs);
  return Promise.all(runs);
};

const start = ({ program, args, environment = plainEnvironment, treeEnder }: ChildRequest): Child =>
  spawn(program, args, { cwd: '/', env: environment, detached: treeEnder === undefined, windowsHide: true });

/** Ends the whole group when called, and the rest of it when the program itself has exited. */
const createGroupEnd = (child: Child, treeEnder: string | undefined, isQuiet: () => boolean): (() => void) => {
  let isEnding = false;
  let hasExited = false;
  let timer: NodeJS.Timeout | undefined;
  const end = (signal: NodeJS.Signals): void =>
    treeEnder === undefined ? sendToGroup(child, signal) : endTree(child, treeEnder);
  const closePipes = (): void => {
    if (isEnding || isQuiet()) {
      child.stdout.destroy();
      child.stderr.destroy();
    } else timer = setTimeout(closePipes, graceMs);
  };
  child.once('exit', () => {
    hasExited = true;
    clearTimeout(timer);
    timer = setTimeout(closePipes, graceMs);
    if (treeEnder === undefined) sendToGroup(child, 'SIGKILL');
  });
  child.once('close', () => clearTimeout(timer));
  return () => {
    // Once the program has exited, another one may have its process id.
    if (!isEnding && !hasExited) {
      end('SIGTERM');
      timer = setTimeout(end, graceMs, 'SIGKILL');
    }
    isEnding = true;
  };
};

const sendToGroup = ({ pid }: Child, signal: NodeJS.Signals): void => {
  try {
    process.kill(-Number(pid), signal);
  } catch {
    // The group is empty.
  }
};

/** If `treeEnder` cannot be started, at least the program itself is ended. */
const endTree = (child: Child, treeEnder: string): void => {
  const args = ['/T', '/F', '/PID', String(child.pid)];
  const options = { env: plainEnvironment, stdio: 'ignore', windowsHide: true } as const;
  spawn(treeEnder, args, options).on('error', () => child.kill('SIGKILL'));
};

/** Reads standard output as fast as `onOutput` takes it, and calls `end` once no more is wanted. */
const passOutput = ({ stdout }: Child, onOutput: ChildRequest['onOutput'], end: () => void) => {
  const failures: unknown[] = [];
  let wanted = true;
  let waiting = 0;
  let taken = Promise.resolve();
  let takenAt = performance.now();
  const take = async (piece: Buffer): Promise<void> => {
    try {
      wanted = wanted && (await onOutput(piece));
    } catch (error) {
      wanted = false;
      failures.push(error);
    }
    if (!wanted) end();
    waiting -= 1;
    takenAt = performance.now();
    stdout.resume();
  };
  stdout.on('data', (piece: Buffer) => {
    if (!wanted) return;
    waiting += 1;
    // When the program exits, Node reads on all the same, so pieces may come while one is being taken.
    stdout.pause();
    taken = taken.then(() => take(piece));
  });
  return {
    failures,
    /** Resolves once all that was read is taken. */
    whenTaken: () => taken,
    /** True if there has been no output for a while. */
    isQuiet: (): boolean => waiting === 0 && performance.now() - takenAt >= graceMs,
  };
};

const keepStderr = ({ stderr }: Child): (() => string) => {
  let text = '';
  stderr.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(0, maxStderrLength);
  });
  return () => text.trim();
};

const newline = 10;

/** Each line is one object as JSON; longer lines are left out of the result. */
const maxLineBytes = 1024 * 1024;

interface TextRequest extends Omit<ChildRequest, 'onOutput'> {
  maxBytes: number;
}

/** The program's output as text. Rejects with a CommandFailure if it exits with an error or writes too much. */
export const readChildText = async ({ maxBytes, ...request }: TextRequest): Promise<string> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const { exitCode, stderr } = await runChild({
    ...request,
    onOutput: (piece) => {
      pieces.push(piece);
      bytes += piece.length;
      return bytes <= maxBytes;
    },
  });
  if (bytes > maxBytes) {
    throw new CommandFailure(`${basename(request.program)} wrote more than ${maxBytes} bytes`);
  }
  if (exitCode !== 0) throw toCommandFailure(request.program, stderr);
  return Buffer.concat(pieces).toString();
};

/** The failure of a program, with its own error message. */
export const toCommandFailure = (program: string, stderr: string): CommandFailure =>
  new CommandFailure(`${basename(program)} failed: ${stderr || 'it wrote no error message'}`);

/**
 * Collects up to `maxRows` rows, and about 8 MiB, from a program that writes one line for each. `toRow` returns
 * undefined for lines that do not belong to the result; if it throws, the command fails.
 */
export const collectRows = (maxRows: number, toRow: (line: string) => OutputRow | undefined) => {
  const rows: OutputRow[] = [];
  let bytes = 0;
  let skipped = false;
  const isFull = (): boolean => rows.length >= maxRows || bytes > maxOutputBytes;
  const addLine = (line: string | undefined): boolean => {
    const row = line === undefined ? undefined : toRow(line);
    if (line === undefined) skipped = true;
    else if (row) {
      rows.push(row);
      bytes += line.length;
    }
    return !isFull();
  };
  return {
    onOutput: createLineReader(addLine, maxLineBytes),
    /** True once no more output is read. */
    isFull,
    toOutput: (): CommandOutput => ({ rows, truncated: skipped || bytes > maxOutputBytes }),
  };
};

/**
 * Splits output into lines, in slices of time. `onLine` gets undefined for a line of more than `maxBytes`, which is
 * never kept in memory, and returns false to stop.
 */
export const createLineReader = (onLine: (line: string | undefined) => boolean, maxBytes: number) => {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else parts.push(part);
  };
  const takeLine = (): string | undefined => {
    const line = bytes > maxBytes ? undefined : Buffer.concat(parts).toString();
    parts = [];
    bytes = 0;
    return line;
  };
  return async (piece: Buffer): Promise<boolean> => {
    const slice = new Slice(readingSliceMs);
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      add(piece.subarray(start, end));
      if (!onLine(takeLine())) return false;
      if (slice.isOver) await slice.giveWay();
      start = end + 1;
    }
    add(piece.subarray(start));
    return true;
  };
};

/** The first path that can be executed. Rejects with a CommandFailure with the message `missing` if there is none. */
export const requireProgram = async (paths: readonly string[], missing: string): Promise<string> => {
  const program = await findProgram(paths);
  if (program === null) throw new CommandFailure(missing);
  return program;
};
