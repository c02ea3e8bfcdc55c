import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Nothing of the server's own environment, which holds secrets. Programs speak English and use no pager. */
const plainEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' };

/** How long after TERM the group is killed, and how long its pipes may outlive the program. */
const graceMs = 500;

const maxStderrLength = 4096;

export interface ChildRequest {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  /** All of its environment, where it needs another one than other programs. */
  environment?: Readonly<Record<string, string>>;
  /** What it reads from standard input, which ends there; nothing when not given. */
  input?: string;
  /** Takes each piece of standard output; false ends the program, as no more is wanted. */
  onOutput: (piece: Buffer) => boolean;
  signal: AbortSignal;
  /** Where the system has no process groups: a program that ends a process and its children, as taskkill does. */
  treeEnder?: string;
}

type Child = ChildProcessWithoutNullStreams;

interface ChildEnd {
  /** Null where a signal ended it. */
  exitCode: number | null;
  /** Its first 4,096 characters, trimmed. */
  stderr: string;
}

/**
 * Runs a program without a shell, in a process group of its own, and resolves when it has ended and nothing
 * of the group is left. Rejects with the signal's reason once that is aborted, with what `onOutput` throws,
 * and with the system's error where the program cannot be started.
 */
export const runChild = async (request: ChildRequest): Promise<ChildEnd> => {
  const { onOutput, signal } = request;
  signal.throwIfAborted();
  const child = start(request);
  const closed = once(child, 'close');
  // Without a process there may be no pipes either, as when the system has no descriptors left.
  if (child.pid === undefined) await closed;
  const end = createGroupEnd(child, request.treeEnder);
  child.stdin.on('error', ignoreUnread).end(request.input);
  const failures = passOutput(child, onOutput, end);
  const readStderr = keepStderr(child);
  signal.addEventListener('abort', end, { once: true });
  try {
    const [exitCode] = await closed;
    signal.throwIfAborted();
    for (const failure of failures) throw failure;
    return { exitCode, stderr: readStderr() };
  } finally {
    signal.removeEventListener('abort', end);
  }
};

const start = ({ program, args, environment = plainEnvironment, treeEnder }: ChildRequest): Child =>
  spawn(program, args, {
    cwd: '/',
    env: environment,
    detached: treeEnder === undefined,
    windowsHide: true,
  });

/** A program that ends before it has read its input is judged by what it wrote and how it ended. */
const ignoreUnread = (): void => {};

/** Ends the whole group when called, and what is left of it when the program itself has ended. */
const createGroupEnd = (child: Child, treeEnder: string | undefined): (() => void) => {
  const timers: NodeJS.Timeout[] = [];
  const send = treeEnder === undefined ? createGroupSignal(child) : createTreeEnd(child, treeEnder);
  const letGo = (): void => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  child.once('exit', () => {
    send('SIGKILL');
    timers.push(setTimeout(letGo, graceMs));
  });
  child.once('close', () => {
    for (const timer of timers) clearTimeout(timer);
  });
  return () => {
    send('SIGTERM');
    timers.push(setTimeout(send, graceMs, 'SIGKILL'));
  };
};

const createGroupSignal =
  ({ pid }: Child) =>
  (signal: NodeJS.Signals): void => {
    try {
      process.kill(-Number(pid), signal);
    } catch {
      // Nobody is left in the group.
    }
  };

/**
 * Does nothing once the program has ended: its process id may be another's by then. Where the tree's program
 * cannot be started, the program itself is ended at least.
 */
const createTreeEnd = (child: Child, treeEnder: string) => (): void => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const args = ['/T', '/F', '/PID', String(child.pid)];
  const options = { env: plainEnvironment, stdio: 'ignore', windowsHide: true } as const;
  spawn(treeEnder, args, options).on('error', () => child.kill('SIGKILL'));
};

const passOutput = (child: Child, onOutput: ChildRequest['onOutput'], end: () => void): unknown[] => {
  const failures: unknown[] = [];
  let wanted = true;
  child.stdout.on('data', (piece: Buffer) => {
    if (!wanted) return;
    try {
      wanted = onOutput(piece);
    } catch (error) {
      wanted = false;
      failures.push(error);
    }
    if (!wanted) end();
  });
  return failures;
};

const keepStderr = ({ stderr }: Child): (() => string) => {
  let text = '';
  stderr.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(0, maxStderrLength);
  });
  return () => text.trim();
};
