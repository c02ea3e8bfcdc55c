import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readIcons } from './icons.mjs';
import { root } from './install.mjs';

/** Where the console is built: index.html and the hashed files that it loads. */
const consolePath = join(root, 'dist', 'console');
const pagePath = join(consolePath, 'index.html');

/** Most bytes, gzipped, that the first load may have: the page with its scripts and styles, and all of that with charts. */
const budget = { page: 60_000, charts: 100_000 };

/** Options of esbuild for the console. */
export const consoleOptions = {
  absWorkingDir: root,
  entryPoints: ['console/main.tsx'],
  outdir: consolePath,
  bundle: true,
  splitting: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  logLevel: 'error',
};

/** True if the console was built from inputs with this hash. */
export const isConsoleCurrent = (hash) =>
  existsSync(pagePath) && readFileSync(pagePath, 'utf8').slice(0, 500).includes(hash);

/**
 * Builds the console and prints its sizes; throws if they exceed the budget. Hashed files are written before the page
 * that names them, and files of earlier builds are removed last, so the folder can be served meanwhile.
 */
export const buildConsole = async (hash) => {
  const { build, stop } = await import('esbuild');
  const { outputFiles, metafile } = await build({ ...consoleOptions, define: { ICONS: readIcons() } }).finally(stop);
  const files = new Map(
    outputFiles.map(({ path, contents }) => [relative(root, path).replaceAll('\\', '/'), contents]),
  );
  const loaded = listFirstLoad(metafile.outputs);
  const page = toPage(hash, loaded);
  checkSizes(
    page,
    loaded.map((path) => files.get(path)),
    [...files.values()],
  );
  mkdirSync(consolePath, { recursive: true });
  for (const [path, contents] of files) writeFileSync(join(root, path), contents);
  writeFileSync(join(consolePath, 'favicon.svg'), readFileSync(join(root, 'public', 'favicon.svg')));
  writeFileSync(`${pagePath}.new`, page);
  renameSync(`${pagePath}.new`, pagePath);
  const kept = new Set(['index.html', 'favicon.svg', ...[...files.keys()].map((path) => basename(path))]);
  for (const name of readdirSync(consolePath)) if (!kept.has(name)) rmSync(join(consolePath, name));
};

/** The paths of the style sheet, of the main script, and of the scripts that it always imports. */
const listFirstLoad = (outputs) => {
  const [main, { cssBundle }] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === 'console/main.tsx');
  const scripts = new Set([main]);
  for (const path of scripts) {
    for (const each of outputs[path].imports) if (each.kind === 'import-statement') scripts.add(each.path);
  }
  return [cssBundle, ...scripts];
};

const toPage = (hash, [style, main, ...imported]) =>
  readFileSync(join(root, 'console', 'index.html'), 'utf8')
    .replace('BUILD', hash)
    .replace('STYLE', basename(style))
    .replace('MAIN', basename(main))
    .replace(
      '<!-- imports -->',
      imported.map((path) => `<link rel="modulepreload" href="${basename(path)}">`).join(''),
    );

const checkSizes = (page, first, all) => {
  const measure = (contents) => contents.reduce((sum, each) => sum + gzipSync(each).length, 0);
  const sizes = { page: measure([page, ...first]), charts: measure([page, ...all]) };
  const toText = (name) => `${(sizes[name] / 1000).toFixed(1)} of ${budget[name] / 1000} KB`;
  process.stderr.write(`Console, gzipped: ${toText('page')}, with charts ${toText('charts')}\n`);
  if (Object.keys(budget).some((name) => sizes[name] > budget[name])) throw new Error('the console is too large');
};
