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

/** The program: the commands, which load the server from the file next to it. */
export const bundlePath = join(dist, 'signalbox.js');
const serverPath = join(dist, 'server.js');
const mysqlPath = join(dist, 'mysql.js');

/** Packages kept out of the bundle: ones with binaries, and one that is never loaded on Linux. */
export const external = ['@node-rs/argon2', 'systeminformation'];

/** Lists all files below folders of the repository, sorted. */
export const listFiles = (...folders) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .sort(),
  );

/** Hashes files. The lockfile represents the libraries and tools. */
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

/** Replaces a folder with a new one next to it. */
const replaceFolder = (folder) => {
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}.new`, folder);
};

const referencePath = join(dist, 'public');
const reference = 'tools/reference/package-lock.json';
const icon = 'console/public/favicon.svg';

/** Copies the page of the API reference, and Scalar from a package that contains its single file as a string. */
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
 * Omits modules that Fastify would load for other kinds of servers: HTTP/2, schemas it compiles itself, and lists of
 * files created on startup.
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

/** Puts the driver of MySQL, a quarter of all code, into a file that only watches of type mysql load. */
const mysqlApart = {
  name: 'mysql apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/mysql-driver\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './mysql.js', external: true },
    ),
};

/** Bundles part of the program with esbuild in one of its forms; resolves to esbuild's result. */
export const bundleProgram = async ({ plugins = [], ...options }) => {
  const { build, stop } = await import('esbuild');
  const common = { absWorkingDir: root, entryPoints: ['src/main.ts'], bundle: true, platform: 'node', external };
  // Stops esbuild's service, which would otherwise run as long as this process.
  const all = { ...common, plugins: [withoutUnused, ...plugins], logLevel: 'error', ...options };
  return build(all).finally(stop);
};

/** CommonJS packages in an ES module need `require`. */
const js =
  "import { createRequire as requireOfBundle } from 'node:module';const require = requireOfBundle(import.meta.url);";

/**
 * Without comments and indentation, because V8 keeps a program's whole text in memory: 3.8 MB instead of 5.4, and twice
 * as much if a single character is outside Latin-1.
 */
const asModule = { format: 'esm', target: 'node20', banner: { js }, minifyWhitespace: true, legalComments: 'none' };

/**
 * Options for the program and its libraries as three files: finding and linking a thousand modules took half of the
 * startup time, and without the server, commands for scripts start in a third of the time.
 */
export const programFiles = [
  { ...asModule, plugins: [mysqlApart], entryPoints: ['src/cli/program.ts'], outfile: serverPath },
  { ...asModule, entryPoints: ['src/features/watches/types/mysql-driver.ts'], outfile: mysqlPath },
  { ...asModule, plugins: [serverApart], outfile: bundlePath },
];

const buildProgram = async () => {
  for (const options of programFiles) await bundleProgram({ ...options, outfile: `${options.outfile}.new` });
  for (const { outfile } of programFiles) renameSync(`${outfile}.new`, outfile);
};

const textsPath = join(dist, 'texts.json');

/** Writes the help, manual page, completions and config file schema that the program prints. */
const buildTexts = async () => {
  const outfile = join(dist, 'texts.js');
  const plugins = [serverApart, mysqlApart];
  await bundleProgram({ ...asModule, plugins, entryPoints: ['tools/texts/main.ts'], outfile });
  const { createTexts } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  writeFileSync(textsPath, JSON.stringify(await createTexts()));
};

const bundleParts = [
  createPart('public', referencePath, () => [...listFiles('public'), reference, icon], buildReference),
  createPart('console', consolePath, () => listSources('console', 'src/client'), buildConsole),
  createPart('program', bundlePath, () => listSources('src'), buildProgram),
  createPart('texts', textsPath, () => ['package.json', ...listSources('src', 'tools/texts')], buildTexts),
  // Covers the parts above.
  createPart('licences', licencesPath, () => ['scripts/licences.mjs', reference], buildLicences),
];

/** Inputs of the client, which include the program because building the client calls its routes. */
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
