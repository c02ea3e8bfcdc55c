import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './install.mjs';

/** The program in one file. */
export const bundlePath = join(root, 'dist', 'signalbox.js');

/** True if the bundle was built from the current sources, lockfile and options. */
export const isBundleCurrent = () =>
  existsSync(bundlePath) && readFileSync(bundlePath, 'utf8').slice(0, 500).includes(hashInputs());

/**
 * Writes the program and its libraries as one file: finding and linking a thousand modules took half of the startup
 * time. Packages with binaries, and the one that is never loaded on Linux, stay outside. The file is renamed into place
 * once it is complete. Call it under the lock.
 */
export const buildBundle = async () => {
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@node-rs/argon2', 'systeminformation'],
    banner: { js: `${toMark(hashInputs())}\n${requireForPackages}` },
    logLevel: 'error',
  }).finally(stop); // or its service would run as long as the program
  mkdirSync(dirname(bundlePath), { recursive: true });
  const unfinished = `${bundlePath}.new`;
  writeFileSync(unfinished, outputFiles[0].contents, { mode: 0o755 });
  renameSync(unfinished, bundlePath);
};

const toMark = (hash) => `// built from ${hash}`;

/** Defines `require`, which CommonJS packages in an ES module need. */
const requireForPackages =
  "import { createRequire as requireOfBundle } from 'node:module';const require = requireOfBundle(import.meta.url);";

/** The lockfile stands for the libraries and esbuild. */
const hashInputs = () => {
  const hash = createHash('sha256');
  for (const path of ['package-lock.json', 'tsconfig.json', join('scripts', 'bundle.mjs'), ...listSources()]) {
    const content = readFileSync(join(root, path));
    hash.update(`${path.replaceAll('\\', '/')}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

const listSources = () =>
  readdirSync(join(root, 'src'), { recursive: true })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join('src', file))
    .sort();
