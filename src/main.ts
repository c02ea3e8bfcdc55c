#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import './lib/keep-tick-shape.ts';
import { avoidMachineCode, limitNewSpace } from './lib/small-code.ts';
import './lib/small-heap.ts';

/** Leaves the working directory if it has been deleted. Returns true if so. */
const leaveGoneFolder = (): boolean => {
  try {
    process.cwd();
    return false;
  } catch {
    process.chdir('/');
    return true;
  }
};

/**
 * Makes `ps` and `top` show `signalbox`, and keeps the arguments. On systems other than Linux, the name stays Node's.
 */
const nameProcess = (): void => {
  try {
    writeFileSync('/proc/self/comm', 'signalbox');
  } catch {
    // This system does not have the file.
  }
};

const main = async (): Promise<void> => {
  if (process.argv[2] === 'agent') {
    avoidMachineCode();
    limitNewSpace();
  }
  const isFolderGone = leaveGoneFolder();
  nameProcess();
  // Imported only now, because libraries read the working directory when they are imported.
  const { run } = await import('./cli/run.ts');
  const exitCode = await run(process.argv.slice(2), isFolderGone);
  if (exitCode !== undefined) process.exit(exitCode);
};

// Not awaited at the top level, because the single executable, a CommonJS script, does not allow that.
void main();
