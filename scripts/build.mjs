import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { external } from './bundle.mjs';
import { buildDeb } from './debian/build.mjs';
import { executable } from './executable/build.mjs';
import { withLock } from './lock.mjs';
import { preparePackage, prepareProgram, root, run } from './prepare.mjs';

/**
 * Builds the contents of the npm package, or packs them with `package`; builds the `executable`, or also the `deb`, for
 * tests of upgrades as `--release 0.2.0` and into `--folder FOLDER`.
 */
const options = { release: { type: 'string' }, folder: { type: 'string' } };
const { values, positionals } = parseArgs({ options, allowPositionals: true });
const [target] = positionals;

/**
 * Packs a copy of the package's files whose package.json lists only dependencies outside the bundle, so that npm does
 * not install the others again.
 */
const pack = ({ folder = root }) => {
  const copy = join(root, 'dist', 'package');
  rmSync(copy, { recursive: true, force: true });
  const list = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const npm = { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' };
  const [{ files }] = JSON.parse(execFileSync('npm', list, npm));
  for (const { path } of files) cpSync(join(root, path), join(copy, path));
  const { scripts, workspaces, overrides, devDependencies, ...manifest } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  delete manifest['//overrides'];
  manifest.dependencies = Object.fromEntries(external.map((name) => [name, manifest.dependencies[name]]));
  writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  run('npm', ['pack', '--silent', '--pack-destination', folder, copy]);
};

if (target === undefined) await preparePackage();
else if (target === 'package') {
  await preparePackage();
  pack(values);
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
