import type { ReadFile } from '../../http/pages.ts';
import type { Licence } from './schema.ts';

/** Where scripts/licences.mjs writes those of the libraries, and the executable has that of Node.js. */
const librariesPath = 'dist/licences.json';
const nodePath = 'dist/node-license.txt';

/** The licences of the libraries in the program and its pages, and of Node.js where that is in it, too. */
export const readLicences = (read: ReadFile): Licence[] => {
  const libraries: Licence[] = JSON.parse(String(read(librariesPath) ?? '[]'));
  const node = read(nodePath);
  if (!node) return libraries;
  return [{ name: 'Node.js', version: process.versions.node, licence: 'MIT', text: node.toString() }, ...libraries];
};
