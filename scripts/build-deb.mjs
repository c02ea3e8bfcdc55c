import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDeb } from './debian/build.mjs';
import { buildExecutable, executablePath } from './executable/build.mjs';
import { withLock } from './lock.mjs';
import { prepareProgram } from './prepare.mjs';

/** `--release 0.2.0` and `--folder FOLDER` are for tests of upgrades. */
const { values } = parseArgs({ options: { release: { type: 'string' }, folder: { type: 'string' } } });
const wait = () => process.stderr.write('Waiting for another command that is building here ...\n');

await prepareProgram();
try {
  await withLock(
    dirname(executablePath),
    async () => {
      await buildExecutable();
      await buildDeb(values);
    },
    wait,
  );
} catch (error) {
  process.stderr.write(`signalbox: cannot build the Debian package: ${error.message}\n`);
  process.exitCode = 1;
}
