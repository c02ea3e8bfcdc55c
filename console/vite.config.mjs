import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';

/** Maximum gzipped bytes: the page with script and style, and everything with charts. */
const budget = { page: 60_000, charts: 165_000 };

const toBytes = (file) => gzipSync(file.type === 'chunk' ? file.code : file.source).length;

/** Prints the console's bundle sizes; fails the build if they exceed the budget. */
const sizes = {
  name: 'sizes',
  apply: 'build',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const files = Object.values(bundle);
      const page = bundle['index.html'];
      const first = files.filter((file) => file === page || page.source.includes(file.fileName));
      const sum = (list) => list.reduce((bytes, file) => bytes + toBytes(file), 0);
      const found = { page: sum(first), charts: sum(files) };
      const toText = (name) => `${(found[name] / 1000).toFixed(1)} of ${budget[name] / 1000} kB`;
      process.stderr.write(`Console, gzipped: ${toText('page')}, with charts ${toText('charts')}\n`);
      if (Object.keys(budget).some((name) => found[name] > budget[name])) this.error('the console is too large');
    },
  },
};

const require = createRequire(import.meta.url);

/** Outlines of the icons in ui/icons.json, without colour and width, which the style sheet sets. */
const readIcons = () => {
  const { icons } = require('@iconify-json/lucide/icons.json');
  const names = JSON.parse(readFileSync(join(import.meta.dirname, 'ui', 'icons.json'), 'utf8'));
  const toOutline = (name) => icons[name].body.replaceAll(/ (fill|stroke[a-z-]*)="[^"]*"|<\/?g>/g, '');
  return JSON.stringify(Object.fromEntries(Object.entries(names).map(([name, icon]) => [name, toOutline(icon)])));
};

/** Server for all requests other than the console's, for `npm run dev`. */
const target = process.env.SIGNALBOX_URL ?? 'http://127.0.0.1:8080';

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // Relative, since a proxy may serve the console below a path.
  base: command === 'build' ? './' : '/console/',
  cacheDir: '../dist/.vite',
  define: { ICONS: readIcons() },
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    target: 'es2022',
    assetsDir: '.',
    // The console's content security policy forbids data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { open: '/console/', proxy: { '^/(?!console/)': { target } } },
  plugins: [sizes],
}));
