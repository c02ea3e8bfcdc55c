import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root, run } from './prepare.mjs';
import { createSbom } from './sbom.mjs';

// Builds everything that belongs to a release into dist/release, and its notes. The executable is built only if it is not
// current, so the release workflow gets the one that it has tested; it publishes all this and makes the container of it.

process.chdir(root);
const folder = join('dist', 'release');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The text below the heading of this version in the changelog. */
const part = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^## /m)
  .find((each) => each.startsWith(`${version}`));
if (part === undefined)
  throw new Error(`CHANGELOG.md has no heading "## ${version}": write what changes for users below it`);
await prepare();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run(process.execPath, ['scripts/build.mjs', 'deb']);
for (const name of ['signalbox-linux-x64', `signalbox_${version}_amd64.deb`]) {
  copyFileSync(join('dist', name), join(folder, name));
}
run('npm', ['pack', '--silent', '--pack-destination', folder]);
writeFileSync(join(folder, `signalbox-${version}.cdx.json`), `${JSON.stringify(createSbom(), undefined, 2)}\n`);
writeFileSync(join('dist', 'release-notes.md'), `${part.slice(part.indexOf('\n')).trim()}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), execFileSync('sha256sum', readdirSync(folder), { cwd: folder }));
