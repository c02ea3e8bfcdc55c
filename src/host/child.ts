import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { killMarked, readStartTicks } from './marked-processes.ts';

/**
 * Environment for programs: English messages, no pager, and none of the server's variables, because these contain
 * secrets.
 */
const plainEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' };

/**
 * Milliseconds between TERM and KILL. Also the maximum milliseconds without output for which pipes stay open after the
 * program has exited.
 */
const graceMs = 500;

const maxStderrLength = 4096;

/** Variable that marks all processes of a run, including those that leave its process group. */
const runVariable = 'RUN_BY_SIGNALBOX';

export interface ChildRequest {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  /** Complete environment, except for the mark of the run. It replaces `plainEnvironment`. */
  environment?: Readonly<Record<string, string>>;
  /** Complete standard input. Default: empty. */
  input?: string;
  /** Receives the pieces of standard output one by one. Returns false to stop the program. */
  onOutput: (piece: Buffer) => boolean | Promise<boolean>;
  signal: AbortSignal;
  /** Program that ends a process and its children, such as taskkill. Used on systems without process groups. */
  treeEnder?: string;
}

type Child = ChildProcessWithoutNullStreams;

interface ChildEnd {
  /** Exit code. Null if a signal ended the program. */
  exitCode: number | null;
  /** First 4,096 characters, trimmed. */
  stderr: string;
}

/**
 * Runs a program without a shell, in its own process group. Resolves when the whole group has ended. On Linux, also
 * ends processes outside the group if the program is stopped or such processes keep the program's output open. Rejects
 * with the signal's reason after an abort, with an error thrown by `onOutput`, or with the system's error if the program
 * cannot be started.
 */
export const runChild = async (request: ChildRequest): Promise<ChildEnd> => {
  const { onOutput, signal } = request;
  signal.throwIfAborted();
  const mark = randomUUID();
  const child = start(request, mark);
  const closed = once(child, 'close');
  // Without a process, the pipes may be missing too, for example when no file descriptors are left.
  if (child.pid === undefined) await closed;
  const output = passOutput(child, onOutput, () => end());
  const { end, whenEnded } = createRunEnd(child, mark, request.treeEnder, output.isQuiet);
  // A program may exit before it reads its input. Its output and exit code then show the failure.
  child.stdin.on('error', () => {}).end(request.input);
  const readStderr = keepStderr(child);
  signal.addEventListener('abort', end, { once: true });
  try {
    const [exitCode] = await closed;
    await output.whenTaken();
    await whenEnded();
    signal.throwIfAborted();
    for (const failure of output.failures) throw failure;
    return { exitCode, stderr: readStderr() };
  } finally {
    signal.removeEventListener('abort', end);
  }
};

/** Resolves like `Promise.all`, but not before all runs have ended. */
export const allEnded = async <T>(runs: readonly Promise<T>[]): Promise<T[]> => {
  await Promise.allSettled(runs);
  return Promise.all(runs);
};

const start = ({ program, args, environment = plainEnvironment, treeEnder }: ChildRequest, mark: string): Child => {
  const env = { ...environment, [runVariable]: mark };
  return spawn(program, args, { cwd: '/', env, detached: treeEnder === undefined, windowsHide: true });
};

/**
 * Returns functions that end the processes of a run, and that wait for their end. If the program exits by itself, ends
 * the rest of its group, and later the processes that keep its output open.
 */
const createRunEnd = (child: Child, mark: string, treeEnder: string | undefined, isQuiet: () => boolean) => {
  let isEnding = false;
  let hasExited = false;
  let timer: NodeJS.Timeout | undefined;
  let ended: Promise<void> | undefined;
  const startTicks = readStartTicks(child.pid);
  const send = (signal: NodeJS.Signals): void =>
    treeEnder === undefined ? sendToGroup(child, signal) : endTree(child, treeEnder);
  const endMarked = (): Promise<void> => {
    ended ??= killMarked(`${runVariable}=${mark}`, startTicks);
    return ended;
  };
  const closePipes = (): void => {
    if (isEnding || isQuiet()) {
      void endMarked();
      child.stdout.destroy();
      child.stderr.destroy();
    } else timer = setTimeout(closePipes, graceMs);
  };
  child.once('exit', () => {
    hasExited = true;
    clearTimeout(timer);
    timer = setTimeout(closePipes, graceMs);
    if (treeEnder === undefined) sendToGroup(child, 'SIGKILL');
    if (isEnding) void endMarked();
  });
  child.once('close', () => clearTimeout(timer));
  const end = (): void => {
    // After the exit, the process id may be assigned to another process.
    if (!isEnding && !hasExited) {
      send('SIGTERM');
      timer = setTimeout(send, graceMs, 'SIGKILL');
    }
    isEnding = true;
    if (hasExited) void endMarked();
  };
  return { end, whenEnded: async () => ended };
};

const sendToGroup = ({ pid }: Child, signal: NodeJS.Signals): void => {
  try {
    process.kill(-Number(pid), signal);
  } catch {
    // The group has no processes left.
  }
};

/** Ends a process with its children, or only the process if `treeEnder` cannot be started. */
const endTree = (child: Child, treeEnder: string): void => {
  const args = ['/T', '/F', '/PID', String(child.pid)];
  const options = { env: plainEnvironment, stdio: 'ignore', windowsHide: true } as const;
  spawn(treeEnder, args, options).on('error', () => child.kill('SIGKILL'));
};

/** Reads standard output as fast as `onOutput` accepts it. Calls `end` when `onOutput` accepts no more. */
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
    // Node ignores a pause when the program exits, so pieces may arrive while an earlier piece is being handled.
    stdout.pause();
    taken = taken.then(() => take(piece));
  });
  return {
    failures,
    /** Resolves once `onOutput` has handled all pieces. */
    whenTaken: () => taken,
    /** True if there has been no output for `graceMs`. */
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
