import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, root, run } from './install.mjs';

// Builds all files of a release into dist/release, and its notes. An executable that is current is not rebuilt, so the
// release workflow publishes the executable that it has tested, and builds the container from it.

process.chdir(root);
const folder = join('dist', 'release');
const { version } = readJson('package.json');

/** Text in the changelog below the heading of this version. */
const part = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^## /m)
  .find((each) => each.startsWith(`${version}`));
if (part === undefined)
  throw new Error(`CHANGELOG.md has no heading "## ${version}": write what changes for users below it`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const build = (...args) => run(process.execPath, ['scripts/build.mjs', ...args, '--folder', folder]);
build('deb');
build('package');
copyFileSync(join('dist', 'signalbox-linux-x64'), join(folder, 'signalbox-linux-x64'));
writeFileSync(join(folder, `signalbox-${version}.cdx.json`), execFileSync(process.execPath, ['scripts/sbom.mjs']));
writeFileSync(join('dist', 'release-notes.md'), `${part.slice(part.indexOf('\n')).trim()}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), execFileSync('sha256sum', readdirSync(folder), { cwd: folder }));
