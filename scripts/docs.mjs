import { join } from 'node:path';
import { installTools } from './install.mjs';
import { withLock } from './lock.mjs';
import { root, run } from './prepare.mjs';

/**
 * Builds the documentation site in dist/site; `dev` serves it with hot reload, `preview` serves the built site.
 * SITE_BASE is the path below which the site is published.
 */
const [command = 'build', ...options] = process.argv.slice(2);

const packages = await withLock(() =>
  installTools('docs', 'Installing VitePress for the documentation site (75 MB) ...'),
);
run(process.execPath, [
  join(packages, 'vitepress', 'bin', 'vitepress.js'),
  ...[command, join(root, 'tools', 'docs'), ...options],
]);
