import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { external } from './bundle.mjs';
import { buildDeb } from './debian/build.mjs';
import { executable } from './executable/build.mjs';
import { withLock } from './lock.mjs';
import { preparePackage, prepareProgram, root } from './prepare.mjs';

/**
 * Builds the contents of the npm `package`, the `executable`, or the `deb` as well; for tests of upgrades as `--release
 * 0.2.0` and into `--folder FOLDER`.
 */
const options = { release: { type: 'string' }, folder: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [target] = positionals;

/** Drops the dependencies that are bundled in the package's files, so that npm does not install them again. */
const shorten = (text) => {
  const manifest = JSON.parse(text);
  manifest.dependencies = Object.fromEntries(external.map((name) => [name, manifest.dependencies[name]]));
  return JSON.stringify(manifest);
};

/** Shortens package.json until npm has packed it and runs `postpack`; npm skips `postpack` after a failure. */
const shortenManifest = () => {
  const [path, saved] = ['package.json', join('dist', '.built', 'package.json')].map((file) => join(root, file));
  let text = readFileSync(path, 'utf8');
  const before = existsSync(saved) ? readFileSync(saved, 'utf8') : '{"dependencies":{}}';
  if (text === shorten(before)) text = before;
  writeFileSync(saved, text);
  writeFileSync(path, shorten(text));
  process.stderr.write('package.json is shortened while npm packs it; if npm fails, `npm run postpack` restores it\n');
};

if (target === undefined) await preparePackage();
else if (target === 'package') {
  await preparePackage();
  shortenManifest();
} else {
  await prepareProgram();
  await withLock(async () => {
    await executable.makeCurrent();
    if (target === 'deb') await buildDeb(values);
  }).catch((error) => {
    process.stderr.write(`signalbox: cannot build: ${error.message}\n`);
    process.exitCode = 1;
  });
}
