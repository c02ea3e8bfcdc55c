import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from './folder.ts';
import type { Scope } from './scope.ts';

/** Writes an executable shell script and returns its absolute path. The script is deleted after the test. */
export const writeProgram = (t: Scope, name: string, script: string): string => {
  const path = join(createFolder(t), name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
};

/** True if the process is running. Zombies do not count as running. */
export const isRunning = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
  } catch {
    return false;
  }
};
