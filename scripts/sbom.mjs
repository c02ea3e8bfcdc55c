import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programOptions } from './bundle.mjs';
import { consoleOptions } from './bundle-console.mjs';
import { root } from './prepare.mjs';

/** The folders of the packages in the program and the console, by esbuild's own list of their modules. */
const listBundled = async () => {
  const { build, stop } = await import('esbuild');
  try {
    const { metafile: program } = await build({
      ...programOptions,
      format: 'esm',
      metafile: true,
      outfile: 'program.js',
    });
    const { metafile: console } = await build(consoleOptions);
    return [program, console].flatMap(({ inputs }) =>
      Object.keys(inputs).flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
    );
  } finally {
    await stop();
  }
};

/**
 * Writes the software bill of materials (CycloneDX) of a release: what npm knows about the packages that are in it, and
 * the version of Node in the executable.
 */
export const writeSbom = async (file, nodeVersion) => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const folders = [...(await listBundled()), ...programOptions.external.map((name) => `node_modules/${name}`)];
  const contained = new Set(
    folders.map((folder) => `${folder.split('node_modules/').at(-1)}@${packages[folder].version}`),
  );
  const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const sbom = JSON.parse(text);
  // npm calls what the bundle holds a development package.
  const components = sbom.components
    .filter((component) => contained.has(component['bom-ref']))
    .map(({ properties: _, ...component }) => ({ ...component, scope: 'required' }));
  components.push({
    type: 'platform',
    'bom-ref': `node@${nodeVersion}`,
    name: 'node',
    version: nodeVersion,
    description: 'Runtime in the executable, the Debian package and the container.',
    purl: `pkg:generic/node@${nodeVersion}`,
  });
  const known = new Set([sbom.metadata.component['bom-ref'], ...components.map((each) => each['bom-ref'])]);
  const dependencies = sbom.dependencies
    .filter(({ ref }) => known.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => known.has(each)) }));
  const metadata = {
    ...sbom.metadata,
    component: { ...sbom.metadata.component, name: 'signalbox', type: 'application' },
  };
  writeFileSync(file, `${JSON.stringify({ ...sbom, metadata, components, dependencies }, undefined, 2)}\n`);
  return components.length;
};
