import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

export const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));

/** Runs a program with this process's input and output; exits with the program's exit code if it fails. */
export const run = (program, args, options) => {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

/** Runs an action with a new folder beside the sources, which is removed. A signal stops the action and this process. */
export const withFolder = async (action) => {
  const folder = mkdtempSync(join(root, '.build-'));
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, stop);
  try {
    return await action(folder, stopping.signal);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, stop);
    if (stopping.signal.aborted) process.exit(1);
  }
};

/** Moves a finished file or folder to its place. If another process does the same at once, one of the two stays. */
export const putInPlace = (made, place) => {
  try {
    // A folder replaces only an empty folder.
    if (statSync(made).isDirectory() && existsSync(place)) renameSync(place, `${made}.old`);
    renameSync(made, place);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  }
};

const has = (path) => existsSync(join(root, 'node_modules', path));

/** Compares the lockfile with the packages that npm has installed for the program and the workspaces in `tools`. */
const readState = () => {
  const { packages: locked } = readJson('package-lock.json');
  const installed = has('.package-lock.json') ? readJson('node_modules', '.package-lock.json').packages : {};
  const isComplete = ({ dependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies }).every(has);
  const isOutdated = ([path, { version }]) => locked[path] !== undefined && locked[path].version !== version;
  const toLink = (name) => `signalbox-${name}`;
  return {
    isCurrent: isComplete(locked['']) && !Object.entries(installed).some(isOutdated),
    hasWorkspace: (name) => has(toLink(name)) && isComplete(locked[locked[`node_modules/${toLink(name)}`].resolved]),
    workspaces: ['client', 'docs', 'runtimes', 'tools'].filter((name) => has(toLink(name))),
  };
};

export const isInstalled = () => readState().isCurrent;

/**
 * Installs the program's packages into a new folder, which then becomes node_modules, and adds those of workspaces by
 * name: `client`, `docs`, `tools`. Workspaces installed earlier stay installed.
 */
export const install = async (names = [], { retries = 2 } = {}) => {
  const { isCurrent, workspaces } = readState();
  if (!isCurrent) {
    process.stderr.write('Installing the dependencies (70 MB) ...\n');
    await withFolder(async (folder, signal) => {
      for (const name of ['package.json', 'package-lock.json', '.npmrc'])
        if (existsSync(join(root, name))) cpSync(join(root, name), join(folder, name));
      await runNpm(['ci', '--workspaces=false', `--fetch-retries=${retries}`], folder, signal);
      if (!isInstalled()) putInPlace(join(folder, 'node_modules'), join(root, 'node_modules'));
    });
  }
  const { hasWorkspace } = readState();
  const missing = [...new Set([...workspaces, ...names])].filter((name) => !hasWorkspace(name));
  if (missing.length === 0) return;
  process.stderr.write(`Installing packages for ${missing.join(', ')} ...\n`);
  const selection = missing.map((name) => `--workspace=signalbox-${name}`);
  await withFolder((_, signal) => runNpm(['install', '--no-save', ...selection], root, signal));
};

/** Set explicitly, because npm passes on its own command's options to this one. */
const options = [
  '--include=dev',
  '--include=optional',
  '--ignore-scripts',
  '--prefer-offline',
  '--dry-run=false',
  '--global=false',
  '--fetch-retry-mintimeout=500',
  '--fetch-retry-maxtimeout=2000',
  '--audit=false',
  '--fund=false',
  '--loglevel=error',
];

/** Failed installation; the message is one line. */
export class InstallError extends Error {}

const runNpm = async (args, cwd, signal) => {
  // On Windows npm is a batch file, which needs a shell.
  const running = promisify(execFile)('npm', [...args, ...options], { cwd, shell: process.platform === 'win32' });
  signal.addEventListener('abort', () => running.child.kill('SIGKILL'));
  await running.catch(({ stderr, message }) => {
    const lines = (stderr || message).split('\n').map((line) => line.replace(/^npm (error|ERR!) (FetchError: )?/, ''));
    const isReason = (line) => line.trim() !== '' && !/^(code|syscall|errno|type|path|dest) /.test(line);
    throw new InstallError(lines.find(isReason) ?? 'npm failed');
  });
};
