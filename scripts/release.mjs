import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root, run } from './prepare.mjs';
import { createSbom } from './sbom.mjs';

// Builds all files of a release into dist/release, and its notes. An executable that is current is not rebuilt, so the
// release workflow publishes the executable that it has tested, and makes the container from it.

process.chdir(root);
const folder = join('dist', 'release');
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** The changelog's text below the heading of this version. */
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
run(process.execPath, ['scripts/build.mjs', 'package', '--folder', folder]);
writeFileSync(join(folder, `signalbox-${version}.cdx.json`), `${JSON.stringify(createSbom(), undefined, 2)}\n`);
writeFileSync(join('dist', 'release-notes.md'), `${part.slice(part.indexOf('\n')).trim()}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), execFileSync('sha256sum', readdirSync(folder), { cwd: folder }));
