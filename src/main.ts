#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import './lib/keep-tick-shape.ts';
import './lib/small-heap.ts';

/** Goes to a directory that exists if the working directory is gone; returns whether it is. */
const leaveGoneFolder = (): boolean => {
  try {
    process.cwd();
    return false;
  } catch {
    process.chdir('/');
    return true;
  }
};

/** Shows `signalbox` in `ps` and `top`, and keeps the arguments. Elsewhere than on Linux the name stays that of Node. */
const nameProcess = (): void => {
  try {
    writeFileSync('/proc/self/comm', 'signalbox');
  } catch {
    // A system without this file.
  }
};

const main = async (): Promise<void> => {
  const isFolderGone = leaveGoneFolder();
  nameProcess();
  // Imported after that, because libraries read the working directory when they are imported.
  const { run } = await import('./cli/run.ts');
  const exitCode = await run(process.argv.slice(2), isFolderGone);
  if (exitCode !== undefined) process.exit(exitCode);
};

// Not awaited at the top level, which the single executable, a CommonJS script, does not allow.
void main();
