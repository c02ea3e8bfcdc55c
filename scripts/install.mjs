import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

export const readJson = (...path) => JSON.parse(readFileSync(join(root, ...path), 'utf8'));

/** Runs a program with the input and output of this process. If the program fails, exits with its exit code. */
export const run = (program, args, options) => {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

/**
 * Runs an action with a new folder next to the sources, and then removes the folder. A signal stops the action and this
 * process.
 */
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

/**
 * Moves a finished file or folder into place. If another process does this at the same time, one of the two remains.
 */
export const putInPlace = (made, place) => {
  try {
    // A folder can replace only an empty folder.
    if (statSync(made).isDirectory() && existsSync(place)) renameSync(place, `${made}.old`);
    renameSync(made, place);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  }
};

const has = (path) => existsSync(join(root, 'node_modules', path));

/**
 * Adds workspaces installed earlier to the given workspaces, and determines whether all their packages match the
 * lockfile.
 */
const readState = (names) => {
  const { packages: locked } = readJson('package-lock.json');
  const installed = has('.package-lock.json') ? readJson('node_modules', '.package-lock.json').packages : {};
  const workspaces = locked[''].workspaces.filter((path) => names.includes(path) || has(`signalbox-${basename(path)}`));
  const listPackages = (path) => Object.keys({ ...locked[path].dependencies, ...locked[path].devDependencies });
  const isOutdated = ([path, { version }]) => locked[path] !== undefined && locked[path].version !== version;
  const isComplete = ['', ...workspaces].flatMap(listPackages).every(has);
  return { workspaces, isCurrent: isComplete && !Object.entries(installed).some(isOutdated) };
};

/**
 * Installs the packages of the program and of workspaces into a new folder that then becomes node_modules. Workspaces
 * installed earlier stay installed.
 */
export const install = async (...names) => {
  const { isCurrent, workspaces } = readState(names);
  if (isCurrent) return;
  process.stderr.write(`Installing the dependencies${workspaces.map((path) => `, ${path}`).join('')} ...\n`);
  await withFolder(async (folder, signal) => {
    const manifests = ['', ...workspaces].map((path) => join(path, 'package.json'));
    for (const path of [...manifests, 'package-lock.json', '.npmrc'])
      if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path));
    const selection = workspaces.map((path) => `--workspace=${path}`);
    const all = ['--include-workspace-root', ...selection];
    // No peer is needed to build and run the program: these are 2.7 MB of types.
    const few = ['--workspaces=false', '--legacy-peer-deps'];
    await runNpm(['ci', ...(selection.length > 0 ? all : few)], folder, signal);
    if (!readState(workspaces).isCurrent) putInPlace(join(folder, 'node_modules'), join(root, 'node_modules'));
  });
};

/** Options that are set explicitly, because npm would otherwise pass on the options of its own command. */
const options =
  '--include=dev --include=optional --ignore-scripts --prefer-offline --dry-run=false --global=false --audit=false ' +
  '--fund=false --fetch-retries=1 --fetch-retry-mintimeout=500 --loglevel=error';

/** Error for a failed installation. The message is one line. */
export class InstallError extends Error {}

const runNpm = async (args, cwd, signal) => {
  // On Windows, npm is a batch file, and a batch file needs a shell.
  const running = promisify(execFile)('npm', [...args, ...options.split(' ')], {
    cwd,
    shell: process.platform === 'win32',
  });
  signal.addEventListener('abort', () => running.child.kill('SIGKILL'));
  await running.catch(({ stderr, message }) => {
    const lines = (stderr || message).split('\n').map((line) => line.replace(/^npm (error|ERR!) (FetchError: )?/, ''));
    const isReason = (line) => line.trim() !== '' && !/^(code|syscall|errno|type|path|dest) /.test(line);
    throw new InstallError(lines.find(isReason) ?? 'npm failed');
  });
};
