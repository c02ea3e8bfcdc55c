import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { root } from './install.mjs';

// What the bundlers put into the parts of the program, as the bill of materials needs it.

const folder = join(root, 'dist', '.built', 'inputs');

/** Keeps the names of the files that a bundler has put into a part: paths, or what a bundler calls code of its own. */
export const keepInputs = (part, files) => {
  mkdirSync(folder, { recursive: true });
  const names = [...new Set(files)].map((name) => (isAbsolute(name) ? relative(root, name) : name)).sort();
  writeFileSync(toInputsPath(part), `${JSON.stringify(names, undefined, 1)}\n`);
};

/** The file with the inputs of a part. */
export const toInputsPath = (part) => join(folder, `${part}.json`);

/** The folders of the packages that are in some parts, by default all that were built, sorted. */
export const listBundled = (parts = readdirSync(folder).map((name) => basename(name, '.json'))) => {
  const files = parts.flatMap((part) => JSON.parse(readFileSync(toInputsPath(part), 'utf8')));
  return [...new Set(files.flatMap(findPackage))].sort();
};

/** Where the package of an input is. A bundler's own code, as Vite's `\0vite/preload-helper.js`, is of its package. */
const findPackage = (file) => {
  const [, own] = /^\0?(vite)\//.exec(file) ?? [];
  if (own !== undefined) return [join('node_modules', own)];
  if (!file.includes('node_modules/')) return [];
  let at = dirname(file.replace(/^\0/, '').replace(/\?.*$/, ''));
  while (!hasName(at)) at = dirname(at);
  return [at];
};

/** True for the folder of a package; folders within some have a package.json without a name. */
const hasName = (at) => {
  const path = join(root, at, 'package.json');
  return existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).version !== undefined;
};
