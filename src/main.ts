#!/usr/bin/env node
import process from 'node:process';

const hasWorkingDirectory = (): boolean => {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
};

const main = async (): Promise<void> => {
  if (!hasWorkingDirectory()) {
    process.stderr.write('signalbox: the working directory is gone; change to one that exists\n');
    process.exit(1);
  }
  // Imported after the check, because libraries read the working directory when they are imported.
  const { run } = await import('./cli/run.ts');
  const exitCode = await run(process.argv.slice(2));
  if (exitCode !== undefined) process.exit(exitCode);
};

// Not awaited at the top level, which the single executable, a CommonJS script, does not allow.
void main();
