import type { ReadFile } from '../../http/pages.ts';
import type { Licence } from './schema.ts';

/**
 * File with the licences of the libraries, written by scripts/licences.mjs, and of Node.js. Only the executable
 * contains Node.js.
 */
const librariesPath = 'dist/licences.json';
const nodePath = 'dist/node-license.txt';

/**
 * Returns the licences of all libraries in the program and its pages. Includes the licence of Node.js if the program
 * contains Node.js.
 */
export const readLicences = (read: ReadFile): Licence[] => {
  const libraries: Licence[] = JSON.parse(String(read(librariesPath) ?? '[]'));
  const node = read(nodePath);
  if (!node) return libraries;
  return [{ name: 'Node.js', version: process.versions.node, licence: 'MIT', text: node.toString() }, ...libraries];
};
