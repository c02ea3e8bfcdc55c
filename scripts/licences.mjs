import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './install.mjs';

export const licencesPath = join(root, 'dist', 'licences.json');

/** The packages of a release that are installed here: those that the lockfile has for the program, and Vite, of which a function is in the console. */
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

/** The package of the API reference, whose one file does not say what is in it. */
export const readScalar = () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'tools', 'reference', 'package.json'), 'utf8'));
  const name = '@scalar/fastify-api-reference';
  return { name, version: dependencies[name] };
};

const toScalarLicence = () => {
  const text = readFileSync(join(root, 'dist', 'public', 'scalar-license.txt'), 'utf8');
  return { ...readScalar(), licence: 'MIT', text };
};

/** Name, version, licence and its text of each library in the program and its pages, by name; they must have been built. */
export const listLicences = () => {
  const all = [...listLibraries().map(toLicence), toScalarLicence()];
  const byKey = new Map(all.map((each) => [`${each.name} ${each.version}`, each]));
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
};

/** Writes them for the route that shows them. */
export const buildLicences = () => writeFileSync(licencesPath, JSON.stringify(listLicences()));
