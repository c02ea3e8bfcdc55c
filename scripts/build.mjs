import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDeb } from './debian/build.mjs';
import { buildExecutable, executablePath } from './executable/build.mjs';
import { withLock } from './lock.mjs';
import { preparePackage, prepareProgram } from './prepare.mjs';

/**
 * Builds what the npm package holds; or the `executable`; or the `deb` too, for tests of upgrades as `--release 0.2.0` and into
 * `--folder FOLDER`.
 */
const options = { release: { type: 'string' }, folder: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });

if (positionals.length === 0) await preparePackage();
else {
  await prepareProgram();
  await withLock(dirname(executablePath), async () => {
    await buildExecutable();
    if (positionals[0] === 'deb') await buildDeb(values);
  }).catch((error) => {
    process.stderr.write(`signalbox: cannot build: ${error.message}\n`);
    process.exitCode = 1;
  });
}
