import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

export const licencesPath = join(root, 'dist', 'licences.json');

/**
 * Lists the installed packages of a release: the program's packages in the lockfile, and Vite, because the console
 * contains one of its functions.
 */
const listLibraries = () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const ofTools = Object.keys(packages.tools.optionalDependencies).map((name) => `node_modules/${name}`);
  const isOfProgram = ([path, { dev, devOptional, link }]) => !dev && !devOptional && !link && !ofTools.includes(path);
  const paths = [
    ...Object.entries(packages)
      .filter(isOfProgram)
      .map(([path]) => path),
    'node_modules/vite',
  ];
  return paths.filter((path) => path.startsWith('node_modules/') && existsSync(join(root, path, 'package.json')));
};

const toLicence = (folder) => {
  const path = join(root, folder);
  const { name, version, license, author, homepage } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each));
  const text = file
    ? readFileSync(join(path, file), 'utf8')
    : `By ${author?.name ?? author ?? homepage}. Licence: ${license}`;
  return { name, version, licence: license, text };
};

/** Reads the package of the API reference, whose single file does not name its contents. */
export const readScalar = () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'tools', 'reference', 'package.json'), 'utf8'));
  const name = '@scalar/fastify-api-reference';
  return { name, version: dependencies[name] };
};

const toScalarLicence = () => {
  const text = readFileSync(join(root, 'dist', 'public', 'scalar-license.txt'), 'utf8');
  return { ...readScalar(), licence: 'MIT', text };
};

/** Lists the name, version, licence and licence text of each library in the built program and its pages, by name. */
export const listLicences = () => {
  const all = [...listLibraries().map(toLicence), toScalarLicence()];
  const byKey = new Map(all.map((each) => [`${each.name} ${each.version}`, each]));
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
};

/** Writes the licences for the route that shows them. */
export const buildLicences = () => writeFileSync(licencesPath, JSON.stringify(listLicences()));
