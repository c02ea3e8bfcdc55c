#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import './keep-tick-shape.ts';

const hasWorkingDirectory = (): boolean => {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
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
  if (!hasWorkingDirectory()) {
    process.stderr.write('signalbox: the working directory is gone; change to one that exists\n');
    process.exit(1);
  }
  nameProcess();
  // Imported after the check, because libraries read the working directory when they are imported.
  const { run } = await import('./cli/run.ts');
  const exitCode = await run(process.argv.slice(2));
  if (exitCode !== undefined) process.exit(exitCode);
};

// Not awaited at the top level, which the single executable, a CommonJS script, does not allow.
void main();
