import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** Maximum gzipped sizes in bytes: the page with its script and style, and the page with everything for charts. */
const budget = { page: 60_000, charts: 172_500 };

const here = import.meta.dirname;
const require = createRequire(import.meta.url);

/** Reads the outlines of the icons in ui/icons.json. Colour and width come from the style sheet. */
const readIcons = () => {
  const { icons } = require('@iconify-json/lucide/icons.json');
  const names = JSON.parse(readFileSync(join(here, 'ui', 'icons.json'), 'utf8'));
  const toOutline = (name) => icons[name].body.replaceAll(/ (fill|stroke[a-z-]*)="[^"]*"|<\/?g>/g, '');
  return JSON.stringify(Object.fromEntries(Object.entries(names).map(([name, icon]) => [name, toOutline(icon)])));
};

/** Plugin that writes the page and checks the budget. The page loads the first files of the bundle. */
const page = {
  name: 'page',
  setup: ({ initialOptions: { outdir }, onEnd }) =>
    onEnd(({ metafile }) => {
      if (!metafile) return;
      cpSync(join(here, 'public'), outdir, { recursive: true });
      const outputs = Object.fromEntries(Object.entries(metafile.outputs).map(([path, all]) => [basename(path), all]));
      const [script, { cssBundle, imports }] = Object.entries(outputs).find(([, { entryPoint }]) =>
        entryPoint?.endsWith('main.tsx'),
      );
      const style = basename(cssBundle);
      const chunks = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
      const links = [
        `<link rel="stylesheet" href="./${style}" />`,
        ...chunks.map((name) => `<link rel="modulepreload" href="./${name}" />`),
      ];
      const html = readFileSync(join(here, 'index.html'), 'utf8')
        .replace('./main.tsx', `./${script}`)
        .replace('</head>', `  ${links.join('\n    ')}\n  </head>`);
      writeFileSync(join(outdir, 'index.html'), html);
      const sum = (names) =>
        names.reduce((bytes, name) => bytes + gzipSync(readFileSync(join(outdir, name))).length, 0);
      const found = {
        page: sum(['index.html', script, style, ...chunks]),
        charts: sum(['index.html', ...Object.keys(outputs)]),
      };
      for (const [name, most] of Object.entries(budget)) {
        if (found[name] > most) throw new Error(`the console has ${found[name]} of ${most} bytes for ${name}, gzipped`);
      }
    }),
};

/** Options for esbuild to build the console into a folder. */
export const toConsoleOptions = (outdir) => ({
  entryPoints: [join(here, 'main.tsx')],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  define: { ICONS: readIcons() },
  plugins: [page],
});
