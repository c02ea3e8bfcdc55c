import type { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';

const deadlineMs = 10_000;

/** Content of a file, or the target of a symbolic link. */
type TreeEntry = string | Buffer | { link: string };

interface StartedProgram extends EventEmitter {
  readonly pid?: number | undefined;
  kill(signal: 'SIGKILL'): boolean;
}

/** Repeats `check` until it does not throw; for readings that change while they are compared. */
export const eventually = async (check: () => unknown, limitMs = deadlineMs): Promise<void> => {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await setTimeout(20);
    }
  }
};

/** Makes a folder with the given files for the time of a test and returns its path. */
export const createTree = (test: TestContext, entries: Record<string, TreeEntry>): string => {
  const root = mkdtempSync(join(tmpdir(), 'signalbox-host-'));
  test.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, entry] of Object.entries(entries)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof entry === 'string' || Buffer.isBuffer(entry)) {
      writeFileSync(file, entry, { mode: 0o755 });
    } else {
      symlinkSync(entry.link, file);
    }
  }
  return root;
};

/** Options for a program of the system that serves as an independent source for what signalbox reads. */
export const inEnglish = { encoding: 'utf8', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } } as const;

/** The lines of a program's output, without the white space around each. */
export const toLines = (output: string): string[] =>
  output
    .trim()
    .split('\n')
    .map((line) => line.trim());

/** Options for a program that runs while it is looked at: its input stays open. */
export const inBackground: { stdio: ('pipe' | 'ignore' | 'inherit')[] } = {
  stdio: ['pipe', 'ignore', 'inherit'],
};

/** Waits until a started program runs, ends it with the test, and returns its process id. */
export const keepRunning = async (test: TestContext, child: StartedProgram): Promise<number> => {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  test.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return Number(child.pid);
};
