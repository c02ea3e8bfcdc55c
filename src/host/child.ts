import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

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

export interface ChildRequest {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  /** Complete environment. It replaces `plainEnvironment`. */
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
 * Runs a program without a shell, in its own process group. Resolves when the whole group has ended. Rejects with the
 * signal's reason after an abort, with an error thrown by `onOutput`, or with the system's error if the program cannot
 * be started.
 */
export const runChild = async (request: ChildRequest): Promise<ChildEnd> => {
  const { onOutput, signal } = request;
  signal.throwIfAborted();
  const child = start(request);
  const closed = once(child, 'close');
  // Without a process, the pipes may be missing too, for example when no file descriptors are left.
  if (child.pid === undefined) await closed;
  const output = passOutput(child, onOutput, () => end());
  const end = createGroupEnd(child, request.treeEnder, output.isQuiet);
  // A program may exit before it reads its input. Its output and exit code then show the failure.
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

/** Resolves like `Promise.all`, but not before all runs have ended. */
export const allEnded = async <T>(runs: readonly Promise<T>[]): Promise<T[]> => {
  await Promise.allSettled(runs);
  return Promise.all(runs);
};

const start = ({ program, args, environment = plainEnvironment, treeEnder }: ChildRequest): Child =>
  spawn(program, args, { cwd: '/', env: environment, detached: treeEnder === undefined, windowsHide: true });

/** Returns a function that ends the process group. If the program exits by itself, ends the rest of its group. */
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
    // After the exit, the process id may be assigned to another process.
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
