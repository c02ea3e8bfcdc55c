import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Nothing of the server's own environment, which holds secrets. Programs speak English and use no pager. */
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' };

/** How long after TERM the group is killed, and how long its pipes may outlive the program. */
const graceMs = 500;

const maxStderrLength = 4096;

export interface ChildRequest {
  /** Absolute path. */
  program: string;
  args: readonly string[];
  /** Takes each piece of standard output; false ends the program, as no more is wanted. */
  onOutput: (piece: Buffer) => boolean;
  signal: AbortSignal;
}

interface ChildEnd {
  /** Null where a signal ended it. */
  exitCode: number | null;
  /** Its first 4,096 characters, trimmed. */
  stderr: string;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

/**
 * Runs a program without a shell, in a process group of its own, and resolves when it has ended and nothing
 * of the group is left. Rejects with the signal's reason once that is aborted, with what `onOutput` throws,
 * and with the system's error where the program cannot be started.
 */
export const runChild = async ({ program, args, onOutput, signal }: ChildRequest): Promise<ChildEnd> => {
  signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const end = createGroupEnd(child);
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

/** Ends the whole group when called, and what is left of it when the program itself has ended. */
const createGroupEnd = (child: Child): (() => void) => {
  const timers: NodeJS.Timeout[] = [];
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // Nobody is left in the group.
    }
  };
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
