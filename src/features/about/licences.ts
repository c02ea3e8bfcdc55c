import type { ReadFile } from '../../http/pages.ts';
import type { Licence } from './schema.ts';

/** Licences of the libraries, listed by scripts/licences.mjs, and of Node.js. Only the executable contains Node.js. */
const librariesPath = 'dist/licences.json';
const nodePath = 'dist/node-license.txt';

/** Returns the licences of all libraries in the program and its pages, and of Node.js if the program contains it. */
export const readLicences = (read: ReadFile): Licence[] => {
  const libraries: Licence[] = JSON.parse(String(read(librariesPath) ?? '[]'));
  const node = read(nodePath);
  if (!node) return libraries;
  return [{ name: 'Node.js', version: process.versions.node, licence: 'MIT', text: node.toString() }, ...libraries];
};
