import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { buildClient, isClientCurrent } from './bundle-client.mjs';
import { buildConsole, isConsoleCurrent } from './bundle-console.mjs';
import { root } from './install.mjs';

/** The program: the commands, which load the server from the file beside it. */
export const bundlePath = join(root, 'dist', 'signalbox.js');
const serverPath = join(root, 'dist', 'server.js');

/** Leaves out a module of Node that Fastify loads on startup and the program never uses. */
const withoutHttp2 = {
  name: 'without-http2',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
      importer.includes('fastify') ? { path: 'http2', namespace: 'unused' } : undefined,
    );
    onLoad({ filter: /^http2$/, namespace: 'unused' }, () => ({ contents: '' }));
  },
};

/** Options of esbuild for every form of the program. */
export const programOptions = {
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  bundle: true,
  write: false,
  platform: 'node',
  external: ['@node-rs/argon2', 'systeminformation'],
  plugins: [withoutHttp2],
  logLevel: 'error',
};

/** True if the program and the console were built from the current sources, lockfile and options. */
export const isBundleCurrent = () => isProgramCurrent() && isConsoleCurrent(hashConsole()) && isReferenceCurrent();

/** Builds the program and the console where they are not current. Call it under the lock. */
export const buildBundle = async () => {
  if (!isConsoleCurrent(hashConsole())) await buildConsole(hashConsole());
  if (!isReferenceCurrent()) buildReference();
  if (!isProgramCurrent()) await buildProgram();
};

/** The pages of the API reference, and Scalar, which shows it. */
const referencePath = join(root, 'dist', 'public');

const hashReference = () =>
  hashInputs([join('scripts', 'bundle.mjs'), ...listFiles('public', (file) => /\.\w+$/.test(file))]);

const isReferenceCurrent = () => {
  const path = join(referencePath, '.hash');
  return existsSync(path) && readFileSync(path, 'utf8') === hashReference();
};

/**
 * Scalar's package for Fastify holds Scalar in one file, as a string. The packages that it depends on are never loaded, so
 * package.json replaces the large ones.
 */
const buildReference = () => {
  const holder = join(root, 'node_modules', '@scalar', 'fastify-api-reference', 'dist', 'index.js');
  const [, literal] = /^var standalone_default = (".*");$/m.exec(readFileSync(holder, 'utf8'));
  cpSync(join(root, 'public'), referencePath, { recursive: true });
  writeFileSync(join(referencePath, 'scalar.js.gz'), gzipSync(runInNewContext(literal), { level: 9 }));
  writeFileSync(join(referencePath, '.hash'), hashReference());
};

/** Builds what the package holds, where it is not current: the client needs the program, whose routes it calls. */
export const buildPackage = async () => {
  await buildBundle();
  if (!isClientCurrent(hashClient())) await buildClient(hashClient(), serverPath);
};

const isProgramCurrent = () =>
  existsSync(serverPath) &&
  existsSync(bundlePath) &&
  readFileSync(bundlePath, 'utf8').slice(0, 500).includes(hashProgram());

/**
 * Writes the program and its libraries as two files: finding and linking a thousand modules took half of the startup time,
 * and commands for scripts start in a third of the time without the server. Packages with binaries, and the one that is
 * never loaded on Linux, stay outside. The files are renamed into place once both are complete.
 */
const buildProgram = async () => {
  const { build, stop } = await import('esbuild');
  const bundle = async (entryPoint, banner, plugins = []) => {
    const { outputFiles } = await build({
      ...programOptions,
      entryPoints: [entryPoint],
      format: 'esm',
      target: 'node20',
      banner: { js: `${banner}\n${requireForPackages}` },
      plugins: [...programOptions.plugins, ...plugins],
    });
    return outputFiles[0].contents;
  };
  const files = await Promise.all([
    bundle('src/cli/program.ts', '').then((contents) => [serverPath, contents]),
    bundle('src/main.ts', toMark(hashProgram()), [serverApart]).then((contents) => [bundlePath, contents]),
  ]).finally(stop); // or its service would run as long as the program
  mkdirSync(dirname(bundlePath), { recursive: true });
  for (const [path, contents] of files) writeFileSync(`${path}.new`, contents, { mode: 0o755 });
  for (const [path] of files) renameSync(`${path}.new`, path);
};

/** What commands import of the server is in a file of its own. */
const serverApart = {
  name: 'server apart',
  setup: ({ onResolve }) => onResolve({ filter: /\/program\.ts$/ }, () => ({ path: './server.js', external: true })),
};

const toMark = (hash) => `// built from ${hash}`;

/** Defines `require`, which CommonJS packages in an ES module need. */
const requireForPackages =
  "import { createRequire as requireOfBundle } from 'node:module';const require = requireOfBundle(import.meta.url);";

const isSource = (file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts');

/** A hash of everything that the program is built from. */
export const hashProgram = () => hashInputs([join('scripts', 'bundle.mjs'), ...listFiles('src', isSource)]);

const hashClient = () =>
  hashInputs([join('scripts', 'bundle-client.mjs'), join('tools', 'client', 'package-lock.json')], hashProgram());

const hashConsole = () =>
  hashInputs([
    join('scripts', 'bundle-console.mjs'),
    join('scripts', 'icons.mjs'),
    join('public', 'favicon.svg'),
    ...listFiles('console', (file) => isSource(file) || /\.(css|html|json)$/.test(file)),
    ...listFiles(join('src', 'client'), isSource),
  ]);

/** The lockfile stands for the libraries and esbuild. */
const hashInputs = (paths, others = '') => {
  const hash = createHash('sha256').update(others);
  for (const path of ['package-lock.json', 'tsconfig.json', ...paths]) {
    const content = readFileSync(join(root, path));
    hash.update(`${path.replaceAll('\\', '/')}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

const listFiles = (folder, isInput) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter(isInput)
    .map((file) => join(folder, file))
    .sort();
