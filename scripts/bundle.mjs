import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { buildClient, clientPath } from './bundle-client.mjs';
import { installTools, root } from './install.mjs';
import { buildLicences, licencesPath } from './licences.mjs';

const dist = join(root, 'dist');

/** The program: the commands, which load the server from the file beside it. */
export const bundlePath = join(dist, 'signalbox.js');
const serverPath = join(dist, 'server.js');

/** Packages outside the program: packages with binaries, and a package that is never loaded on Linux. */
export const external = ['@node-rs/argon2', 'systeminformation'];

/** All files below folders of the repository, sorted. */
export const listFiles = (...folders) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .sort(),
  );

/** Hashes files. The lockfile stands for the libraries and tools. */
const hashFiles = (paths) => {
  const hash = createHash('sha256');
  for (const path of ['package-lock.json', 'tsconfig.json', 'scripts/bundle.mjs', ...paths]) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex');
};

const listSources = (...folders) => listFiles(...folders).filter((file) => !file.endsWith('.test.ts'));

/** Creates a build step: its output is current if `dist/.built` has the hash of its inputs. */
export const createPart = (name, output, listInputs, build) => {
  const stamp = join(dist, '.built', name);
  const hash = () => hashFiles(listInputs());
  const isCurrent = () => existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash();
  const makeCurrent = async () => {
    if (isCurrent()) return;
    rmSync(stamp, { force: true });
    await build();
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, hash());
  };
  return { isCurrent, makeCurrent };
};

/** Replaces a folder with a new folder beside it. */
const replaceFolder = (folder) => {
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}.new`, folder);
};

const referencePath = join(dist, 'public');
const reference = 'tools/reference/package-lock.json';
const icon = 'console/public/favicon.svg';

/** Copies the page of the API reference, with Scalar from a package that holds its single file as a string. */
const buildReference = async () => {
  const packages = await installTools('reference', 'Installing Scalar for the API reference (5 MB) ...');
  const holder = join(packages, '@scalar', 'fastify-api-reference');
  const [, literal] = /^var standalone_default = (".*");$/m.exec(
    readFileSync(join(holder, 'dist', 'index.js'), 'utf8'),
  );
  const folder = `${referencePath}.new`;
  cpSync(join(root, 'public'), folder, { recursive: true });
  cpSync(join(root, icon), join(folder, 'favicon.svg'));
  cpSync(join(holder, 'LICENSE'), join(folder, 'scalar-license.txt'));
  writeFileSync(join(folder, 'scalar.js.gz'), gzipSync(runInNewContext(literal), { level: 9 }));
  replaceFolder(referencePath);
  rmSync(packages, { recursive: true });
};

const consolePath = join(dist, 'console');

const buildConsole = async () => {
  const { build } = await import('vite');
  const configFile = join(root, 'console', 'vite.config.mjs');
  const outDir = `${consolePath}.new`;
  await build({ configFile, configLoader: 'native', logLevel: 'warn', build: { outDir, emptyOutDir: true } });
  replaceFolder(consolePath);
};

/**
 * Leaves out modules that Fastify would load for servers of other kinds: HTTP/2, schemas that it compiles by itself,
 * and lists of files made on startup.
 */
const withoutUnused = {
  name: 'without-unused',
  setup: ({ onResolve, onLoad }) => {
    onResolve(
      { filter: /^(?:node:http2|glob|@fastify\/(?:ajv|fast-json-stringify)-compiler)$/ },
      ({ path, importer }) => (importer.includes('fastify') ? { path, namespace: 'unused' } : undefined),
    );
    onLoad({ filter: /^/, namespace: 'unused' }, () => ({ contents: '' }));
  },
};

/** Puts the server code that commands import into a separate file. */
const serverApart = {
  name: 'server apart',
  setup: ({ onResolve }) => onResolve({ filter: /\/program\.ts$/ }, () => ({ path: './server.js', external: true })),
};

/** Bundles a part of the program with esbuild, in one of its forms; resolves to esbuild's result. */
export const bundleProgram = async ({ plugins = [], ...options }) => {
  const { build, stop } = await import('esbuild');
  const common = { absWorkingDir: root, entryPoints: ['src/main.ts'], bundle: true, platform: 'node', external };
  // Ends esbuild's service, which would run as long as this process.
  const all = { ...common, plugins: [withoutUnused, ...plugins], logLevel: 'error', ...options };
  return build(all).finally(stop);
};

/** CommonJS packages in an ES module need `require`. */
const js =
  "import { createRequire as requireOfBundle } from 'node:module';const require = requireOfBundle(import.meta.url);";

/**
 * Without comments and indentation, because V8 keeps a program's whole text in memory: 3.8 MB instead of 5.4, and twice that
 * with a single character outside Latin-1.
 */
const asModule = { format: 'esm', target: 'node20', banner: { js }, minifyWhitespace: true, legalComments: 'none' };

/**
 * Options for the program and its libraries as two files: finding and linking a thousand modules took half of the startup time,
 * and commands for scripts start in a third of the time without the server.
 */
export const programFiles = [
  { ...asModule, entryPoints: ['src/cli/program.ts'], outfile: serverPath },
  { ...asModule, plugins: [serverApart], outfile: bundlePath },
];

const buildProgram = async () => {
  for (const options of programFiles) await bundleProgram({ ...options, outfile: `${options.outfile}.new` });
  for (const { outfile } of programFiles) renameSync(`${outfile}.new`, outfile);
};

const textsPath = join(dist, 'texts.json');

/** Writes the help, the manual page, the completions and the schema of the config file, which the program prints. */
const buildTexts = async () => {
  const outfile = join(dist, 'texts.js');
  await bundleProgram({ ...asModule, plugins: [serverApart], entryPoints: ['tools/texts/main.ts'], outfile });
  const { createTexts } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  writeFileSync(textsPath, JSON.stringify(await createTexts()));
};

const bundleParts = [
  createPart('public', referencePath, () => [...listFiles('public'), reference, icon], buildReference),
  createPart('console', consolePath, () => listSources('console', 'src/client'), buildConsole),
  createPart('program', bundlePath, () => listSources('src'), buildProgram),
  createPart('texts', textsPath, () => ['package.json', ...listSources('src', 'tools/texts')], buildTexts),
  // Covers the parts before it.
  createPart('licences', licencesPath, () => ['scripts/licences.mjs', reference], buildLicences),
];

/** Inputs of the client, which needs the program because it calls its routes. */
const clientInputs = ['scripts/bundle-client.mjs', 'tools/client/package-lock.json'];
const client = createPart(
  'client',
  clientPath,
  () => [...clientInputs, ...listSources('src')],
  () => buildClient(serverPath),
);

/** True if the program and its pages were built from the current sources, lockfile and options. */
export const isBundleCurrent = () => bundleParts.every(({ isCurrent }) => isCurrent());

/** Builds the program and its pages unless they are current. Call it under the lock. */
export const buildBundle = async () => {
  for (const { makeCurrent } of bundleParts) await makeCurrent();
};

/** Builds the contents of the package unless they are current. Call it under the lock. */
export const buildPackage = async () => {
  await buildBundle();
  await client.makeCurrent();
};
