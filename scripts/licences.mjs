import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, root } from './install.mjs';

/** Packages whose files the build reads without importing them. */
const read = ['node_modules/@iconify-json/lucide', 'node_modules/@scalar/fastify-api-reference'];

/** Lists the folders of packages that npm installs next to the bundle on this system. */
const listInstalled = () => {
  const { packages } = readJson('package-lock.json');
  const paths = Object.keys(packages[''].dependencies).map((name) => `node_modules/${name}`);
  const binaries = paths.flatMap((path) => Object.keys(packages[path].optionalDependencies ?? {}));
  return [...paths, ...binaries.map((name) => `node_modules/${name}`)].filter((path) => existsSync(join(root, path)));
};

const toLicence = (folder) => {
  const { name, version, license, author, homepage } = readJson(folder, 'package.json');
  const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
  const text = file
    ? readFileSync(join(root, folder, file), 'utf8')
    : `By ${author?.name ?? author ?? homepage}. Licence: ${license}`;
  return { name, version, licence: license, text };
};

/** Lists the name, version, licence and licence text of each library in the program and its pages, by name. */
export const listLicences = (bundledFiles) => {
  const bundled = bundledFiles.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const all = [...new Set([...bundled, ...listInstalled(), ...read])].map(toLicence);
  const byKey = new Map(all.map((each) => [`${each.name} ${each.version}`, each]));
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
};
