import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { unpackChromium } from './chromium.ts';

const inRoot = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/**
 * Prepares the browser, and bundles the app for all test processes, because compiling its modules would take each
 * process seconds.
 */
export default async (): Promise<void> => {
  await build({
    entryPoints: [inRoot('test/support/app.ts')],
    outfile: inRoot('dist/e2e/app.js'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    logLevel: 'error',
  });
  await unpackChromium();
};
