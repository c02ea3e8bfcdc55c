import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';

const deadlineMs = 10_000;

/** Writes an executable shell script, deleted after the test, and returns its absolute path. */
export const writeProgram = (t: TestContext, name: string, script: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-commands-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
};

/** True if the process is running; zombies are not. */
export const isRunning = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
};

/** Resolves when the condition is true; rejects after 10 s. */
export const until = async (condition: () => boolean): Promise<void> => {
  const deadline = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${condition}`);
    await setTimeout(10);
  }
};
