import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { external } from './bundle.mjs';
import { buildDeb } from './debian/build.mjs';
import { buildExecutable, executablePath } from './executable/build.mjs';
import { withLock } from './lock.mjs';
import { preparePackage, prepareProgram, root } from './prepare.mjs';

/**
 * Builds what the npm `package` holds; or the `executable`; or the `deb` too, for tests of upgrades as `--release 0.2.0` and
 * into `--folder FOLDER`.
 */
const options = { release: { type: 'string' }, folder: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [target] = positionals;

if (target === undefined) await preparePackage();
else if (target === 'package') {
  await preparePackage();
  // The package has the other libraries in its files, so it must not install them, too. `postpack` restores the manifest.
  const path = join(root, 'package.json');
  copyFileSync(path, join(root, 'dist', '.built', 'package.json'));
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  manifest.dependencies = Object.fromEntries(external.map((name) => [name, manifest.dependencies[name]]));
  writeFileSync(path, JSON.stringify(manifest));
} else {
  await prepareProgram();
  await withLock(dirname(executablePath), async () => {
    await buildExecutable();
    if (target === 'deb') await buildDeb(values);
  }).catch((error) => {
    process.stderr.write(`signalbox: cannot build: ${error.message}\n`);
    process.exitCode = 1;
  });
}
