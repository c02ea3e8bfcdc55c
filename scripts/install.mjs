import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Failed installation, or one ended by a `signal`; the message is one line. */
export class InstallError extends Error {
  constructor(message, signal) {
    super(message);
    this.signal = signal;
  }
}

const readPackages = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {});

const readInstalled = (folder) => readPackages(join(folder, 'node_modules', '.package-lock.json'));

/**
 * True if a folder's node_modules contains only locked versions, and everything needed to `build` the program, or for
 * `all`. Packages for other systems may be missing.
 */
export const isInstalled = (purpose, folder = root) => {
  const locked = readPackages(join(folder, 'package-lock.json'));
  const installed = readInstalled(folder);
  const { dependencies, devDependencies } = locked[''];
  const direct = new Set(Object.keys({ ...dependencies, ...devDependencies }).map((name) => `node_modules/${name}`));
  const mayBeMissing = (path) => locked[path].optional || (purpose === 'build' && !direct.has(path));
  return Object.keys(locked).every((path) => {
    if (path === '') return true;
    return installed[path] ? installed[path].version === locked[path].version : mayBeMissing(path);
  });
};

/**
 * Installs the packages needed to `build` the program, or `all` of them, into a new folder, which replaces node_modules
 * once complete. Tools installed earlier stay installed. Does nothing if all packages are installed. Call it under the
 * lock.
 */
export const install = async (purpose, { retries }) => {
  if (isInstalled(purpose)) return;
  const all = purpose === 'all' || 'node_modules/signalbox-tools' in readInstalled(root);
  process.stderr.write(`Installing ${all ? 'dependencies and tools (380 MB)' : 'dependencies (68 MB)'} ...\n`);
  const staging = join(root, '.build-install');
  const target = join(root, 'node_modules');
  try {
    rmSync(staging, { recursive: true, force: true });
    for (const path of ['package.json', 'package-lock.json', '.npmrc', join('tools', 'package.json')]) {
      if (existsSync(join(root, path))) cpSync(join(root, path), join(staging, path));
    }
    // Without peers: Vite's optional peers are types and programs that only the tools use.
    const ofProgram = ['--workspaces=false', '--legacy-peer-deps'];
    await runNpmCi([`--fetch-retries=${retries}`, ...(all ? [] : ofProgram)], staging);
    if (existsSync(target)) renameSync(target, join(staging, 'old'));
    renameSync(join(staging, 'node_modules'), target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
};

/** Installs the locked packages of a `tools` folder, and returns its node_modules. Call it under the lock. */
export const installTools = async (name, announcement) => {
  const folder = join(root, 'tools', name);
  if (!isInstalled('all', folder)) {
    process.stderr.write(`${announcement}\n`);
    await runNpmCi([], folder);
  }
  return join(folder, 'node_modules');
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

/** Runs `npm ci`. A signal kills npm first, which is safe because npm works in a separate folder. */
const runNpmCi = async (args, cwd) => {
  // On Windows npm is a batch file, which needs a shell.
  const running = promisify(execFile)('npm', ['ci', ...options, ...args], { cwd, shell: process.platform === 'win32' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  let received;
  const stop = (signal) => {
    received = signal;
    running.child.kill('SIGKILL');
  };
  for (const signal of signals) process.on(signal, stop);
  try {
    await running;
  } catch ({ stderr, message }) {
    throw new InstallError(received ?? toReason(stderr || message), received);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
};

/** Returns the first line of npm's error output that is a sentence. */
const toReason = (output) =>
  output
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) (FetchError: )?/, ''))
    .find((line) => line.trim() !== '' && !/^(code|syscall|errno|type|path|dest) /.test(line)) ?? 'npm ci failed';
