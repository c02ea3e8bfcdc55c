#!/usr/bin/env node
import process from 'node:process';

const hasFolder = (): boolean => {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
};

if (!hasFolder()) {
  process.stderr.write('signalbox: the working directory is gone; change to one that exists\n');
  process.exit(1);
}
// Only now: libraries ask for the working directory as soon as they are imported.
const { run } = await import('./cli/run.ts');
const exitCode = await run(process.argv.slice(2));
if (exitCode !== undefined) process.exit(exitCode);
