import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { toConsoleOptions } from '../console/build.mjs';
import { buildClient, buildTypes } from '../tools/client/build.mjs';
import { install, putInPlace, readJson, root, withFolder } from './install.mjs';
import { listLicences } from './licences.mjs';

export const dist = join(root, 'dist');

/** Path of the program: the commands. They load the server from the file next to it. */
export const bundlePath = join(dist, 'signalbox.js');

/** Lists all files below folders of the repository, sorted. */
export const listFiles = (...folders) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
      .sort(),
  );

const toTime = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** True if a file is at least as new as another file. */
export const isCurrent = (path, source) => toTime(path) >= toTime(source) && existsSync(source);

/** True if the program and its pages are newer than all sources and the lockfile. */
export const isBuilt = () => {
  const built = toTime(bundlePath);
  const sources = [
    ...listFiles('console', 'public', 'scripts', 'src', 'tools/client', 'tools/texts'),
    'package-lock.json',
  ];
  return sources.every((path) => path.endsWith('.test.ts') || toTime(join(root, path)) <= built);
};

/**
 * Plugin that omits modules that Fastify would load only for other kinds of servers: HTTP/2, schemas that it compiles
 * itself, and lists of files created on startup.
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

/** Puts SQLite's WebAssembly into the module that would otherwise read it from its package. */
const withSqlite = {
  name: 'with-sqlite',
  setup: ({ onLoad }) =>
    onLoad({ filter: /node-sqlite3-wasm\.js$/ }, ({ path }) => {
      const bytes = readFileSync(path.replace(/js$/, 'wasm'), 'base64');
      const given = `var __dirname='';var Module={wasmBinary:Buffer.from('${bytes}','base64')};`;
      return { contents: given + readFileSync(path, 'utf8') };
    }),
};

/**
 * Reads exports of `node:http` when they are used. An `import` reads all of them at once, and Node.js 22 and later then
 * load undici, HTTP/2 and web streams.
 */
const withLazyHttp = {
  name: 'with-lazy-http',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'lazy' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'lazy' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }));
  },
};

/** Keeps a module in a separate file, in a folder relative to the file that imports it. */
const apart = (filter, file, folder) => ({
  name: file,
  setup: ({ onResolve }) =>
    onResolve({ filter }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: `${folder}/${file}`, external: true },
    ),
});
/**
 * Keeps the server in a separate file. Without the server, commands for scripts start in a third of the time. The
 * server is a single file, because an upgrade must not remove a part that a running server has not loaded yet.
 */
const serverApart = (folder) => apart(/\/program\.ts$/, 'server.js', folder);
/** Keeps the driver of MySQL in a separate file, because it is a quarter of all code. */
const mysqlApart = (folder = '.') => apart(/\/mysql-driver\.ts$/, 'mysql.js', folder);

/** Banner that defines `require`, because CommonJS packages in an ES module need it. */
const js =
  "import { createRequire as requireOfBundle } from 'node:module';const require = requireOfBundle(import.meta.url);";

/**
 * Bundles part of the program, by default as an ES module. Removes comments and indentation, because V8 keeps the whole
 * text of a program in memory: 3.8 MB instead of 5.4, and twice as much if one character is outside Latin-1.
 */
export const bundleProgram = async ({ plugins = [], ...options }) => {
  const { build } = await import('esbuild');
  return build({
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    // Packages with binaries, and a package that is never loaded on Linux. npm installs them next to the bundle.
    external: Object.keys(readJson('package.json').dependencies),
    format: 'esm',
    target: 'node20',
    banner: { js },
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
    plugins: [withoutUnused, withSqlite, withLazyHttp, ...plugins],
    ...options,
  });
};

/** Writes the page of the API reference, with Scalar from a package that contains its single file as a string. */
const writeReference = (folder) => {
  const holder = join(root, 'node_modules', '@scalar', 'fastify-api-reference');
  const text = readFileSync(join(holder, 'dist', 'index.js'), 'utf8');
  const [, literal] = /^var standalone_default = (".*");$/m.exec(text);
  cpSync(join(root, 'public'), folder, { recursive: true });
  cpSync(join(root, 'console', 'public', 'favicon.svg'), join(folder, 'favicon.svg'));
  cpSync(join(holder, 'LICENSE'), join(folder, 'scalar-license.txt'));
  writeFileSync(join(folder, 'scalar.js.gz'), gzipSync(runInNewContext(literal), { level: 9 }));
};

/** Builds the program, its pages and the client into a folder in the root. */
const buildInto = async (folder) => {
  const { build, stop } = await import('esbuild');
  const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));
  try {
    const bundle = (entry, file, ...plugins) =>
      bundleProgram({ entryPoints: [entry], outfile: join(folder, file), plugins });
    const results = await Promise.all([
      bundle('src/cli/program.ts', 'server.js', mysqlApart()),
      bundle('src/features/watches/types/mysql-driver.ts', 'mysql.js'),
      // Commands load only the parts that they need, so that an agent takes little memory.
      bundleProgram({
        entryPoints: { signalbox: 'src/main.ts' },
        outdir: folder,
        splitting: true,
        chunkNames: 'parts/[name]-[hash]',
        minifySyntax: true,
        plugins: [serverApart('..'), mysqlApart('..')],
      }),
      build({ ...toConsoleOptions(join(folder, 'console')), absWorkingDir: root, metafile: true, logLevel: 'warning' }),
    ]);
    await bundle('tools/texts/main.ts', 'texts.mjs', mysqlApart());
    writeReference(join(folder, 'public'));
    write('licences.json', listLicences(results.flatMap(({ metafile }) => Object.keys(metafile.inputs))));
    const { createTexts, describeApi } = await import(pathToFileURL(join(folder, 'texts.mjs')).href);
    write('texts.json', await createTexts());
    const api = await describeApi();
    write('openapi.json', api);
    await buildClient(api, join(folder, 'client.js'));
  } finally {
    // Otherwise, the process that it starts would run as long as this process.
    await stop();
  }
};

/** Builds the program, its pages and the client unless they are current. The newest file is moved into place last. */
export const buildProgram = async () => {
  if (isBuilt()) return;
  const begin = new Date();
  await withFolder(async (folder) => {
    await buildInto(folder);
    if (isBuilt()) return;
    utimesSync(join(folder, 'signalbox.js'), begin, begin);
    mkdirSync(dist, { recursive: true });
    const parts = readdirSync(folder).filter((name) => !['signalbox.js', 'texts.mjs'].includes(name));
    for (const name of [...parts, 'signalbox.js']) putInPlace(join(folder, name), join(dist, name));
  });
};

/** Builds everything in the npm package unless it is current, and installs the packages needed for that. */
export const buildPackage = async () => {
  await install('tools/client');
  await buildProgram();
  const types = join(dist, 'client.d.ts');
  if (!isCurrent(types, bundlePath)) await buildTypes(readJson('dist', 'openapi.json'), types);
};
