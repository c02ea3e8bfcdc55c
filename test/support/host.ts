import type { EventEmitter } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createFolder } from './folder.ts';
import { atEnd, type Scope } from './scope.ts';

/** Content of a file, or target of a symbolic link. */
type TreeEntry = string | Buffer | { link: string };

interface StartedProgram extends EventEmitter {
  readonly pid?: number | undefined;
  kill(signal: 'SIGKILL'): boolean;
}

/** Creates a folder with the given files and returns its path. The folder lasts until the test ends. */
export const createTree = (test: Scope, entries: Record<string, TreeEntry>): string => {
  const root = createFolder(test);
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

/** Options for a system program that serves as an independent check of signalbox's readings. */
export const inEnglish = { encoding: 'utf8', env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' } } as const;

/** Returns the lines of a program's output, trimmed. */
export const toLines = (output: string): string[] =>
  output
    .trim()
    .split('\n')
    .map((line) => line.trim());

/** Options for a program that is observed while it runs. Its input stays open. */
export const inBackground: { stdio: ('pipe' | 'ignore' | 'inherit')[] } = {
  stdio: ['pipe', 'ignore', 'inherit'],
};

/** Waits until a started program is running and returns its process id. The program ends with the test. */
export const keepRunning = async (test: Scope, child: StartedProgram): Promise<number> => {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  atEnd(test, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return Number(child.pid);
};
