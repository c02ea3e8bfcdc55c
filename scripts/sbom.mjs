import { execFileSync } from 'node:child_process';
import { node } from '../tools/executable/build.mjs';
import { readJson, root } from './install.mjs';

// Prints a CycloneDX bill of materials: the libraries in the program and its pages, and Node.js with its libraries. The
// executable must be built first.

const readOutput = (...args) => JSON.parse(execFileSync(args[0], args.slice(1), { cwd: root, encoding: 'utf8' }));
const toComponent = (type, name, version, purl) => ({ type, 'bom-ref': purl, name, version, purl });

const npmSbom = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'];
const sbom = readOutput('npm', ...npmSbom, '--workspaces=false');
const contained = new Set(readJson('dist', 'licences.json').map(({ name, version }) => `${name}@${version}`));
const isContained = (ref) => contained.has(ref);
// npm considers most libraries to be needed only for development, because the bundle contains them.
sbom.components = sbom.components
  .filter((each) => isContained(each['bom-ref']))
  // If a package is installed in the place of another, npm gives it the name of the other.
  .map(({ properties, ...component }) => {
    const name = component['bom-ref'].replace(/@[^@]*$/, '');
    return { ...component, name, scope: 'required' };
  });
const main = sbom.metadata.component;
main.name = 'signalbox';
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => ref === main['bom-ref'] || isContained(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isContained) }));

const { node: version, modules, napi, ...libraries } = readOutput(node, '-p', 'JSON.stringify(process.versions)');
const platform = toComponent('platform', 'node', version, `pkg:generic/node@${version}`);
platform.components = Object.entries(libraries)
  // Libraries missing from this build have an empty version.
  .filter(([, each]) => each !== '')
  .map(([name, each]) => toComponent('library', name, each, `pkg:generic/${name}@${each}`));
sbom.components.push(platform);
sbom.dependencies.find(({ ref }) => ref === main['bom-ref']).dependsOn.push(platform['bom-ref']);
sbom.dependencies.push({ ref: platform['bom-ref'], dependsOn: [] });
// Scalar is a single file that does not name its contents.
const scalar = sbom.components.find(({ name }) => name === '@scalar/fastify-api-reference');
sbom.compositions = [{ aggregate: 'unknown', assemblies: [scalar['bom-ref']] }];
process.stdout.write(`${JSON.stringify(sbom, undefined, 2)}\n`);
