import { dirname } from 'node:path';
import { buildExecutable, executablePath } from './executable/build.mjs';
import { withLock } from './lock.mjs';
import { prepareProgram } from './prepare.mjs';

const wait = () => process.stderr.write('Waiting for another command that is building here ...\n');

await prepareProgram();
try {
  await withLock(dirname(executablePath), buildExecutable, wait);
} catch (error) {
  process.stderr.write(`signalbox: cannot build the executable: ${error.message}\n`);
  process.exitCode = 1;
}
