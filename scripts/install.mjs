import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** An installation that failed, or was ended by a `signal`; the message is one line. */
export class InstallError extends Error {
  constructor(message, signal) {
    super(message);
    this.signal = signal;
  }
}

const readPackages = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {});

const readInstalled = () => readPackages(join(root, 'node_modules', '.package-lock.json'));

/** Name, version and folder of each library that the program or a page contains. */
export const listLibraries = () =>
  Object.entries(readPackages(join(root, 'package-lock.json')))
    .filter(([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link)
    .map(([path, { version }]) => ({ name: path.split('node_modules/').at(-1), version, folder: join(root, path) }));

/**
 * True if node_modules has the locked versions of these packages, of those needed to `build`, or of `all`. Packages for other
 * systems may be missing.
 */
export const isInstalled = (wanted) => {
  const locked = readPackages(join(root, 'package-lock.json'));
  const installed = readInstalled();
  const isCurrent = (path) => installed[path]?.version === locked[path].version;
  if (wanted === 'all') {
    return Object.keys(locked).every(
      (path) => path === '' || isCurrent(path) || (locked[path].optional && !installed[path]),
    );
  }
  const { dependencies, devDependencies } = locked[''];
  const direct = wanted === 'build' ? Object.keys({ ...dependencies, ...devDependencies }) : wanted;
  const others = wanted === 'build' ? Object.keys(installed).filter((path) => locked[path]) : [];
  return direct.every((name) => isCurrent(`node_modules/${name}`)) && others.every(isCurrent);
};

/**
 * Installs the packages needed to `build` the program, or `all` of them, into a new folder, which replaces node_modules
 * once it is complete. Tools that were installed before stay installed. Call it under the lock.
 */
export const install = async (purpose, { retries }) => {
  const all = purpose === 'all' || 'node_modules/signalbox-tools' in readInstalled();
  process.stderr.write(`Installing ${all ? 'dependencies and tools (380 MB)' : 'dependencies (58 MB)'} ...\n`);
  const staging = join(root, '.build-install');
  const target = join(root, 'node_modules');
  try {
    rmSync(staging, { recursive: true, force: true });
    for (const path of ['package.json', 'package-lock.json', '.npmrc', join('tools', 'package.json')]) {
      if (existsSync(join(root, path))) cpSync(join(root, path), join(staging, path));
    }
    await runNpmCi([`--fetch-retries=${retries}`, ...(all ? [] : ['--workspaces=false'])], staging);
    if (existsSync(target)) renameSync(target, join(staging, 'old'));
    renameSync(join(staging, 'node_modules'), target);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
};

/**
 * Installs the locked packages of a folder of `tools` into another folder, unless they are installed. Announces it with
 * the given line. Call it under the lock.
 */
export const installTools = async (name, target, announcement) => {
  const source = join(root, 'tools', name);
  const [lock, done] = ['package-lock.json', join('node_modules', '.package-lock.json')].map((file) =>
    join(target, file),
  );
  if (existsSync(done) && readFileSync(lock).equals(readFileSync(join(source, 'package-lock.json')))) return;
  process.stderr.write(`${announcement}\n`);
  mkdirSync(target, { recursive: true });
  cpSync(source, target, { recursive: true });
  await runNpmCi([], target);
};

/** Explicit, because npm passes the options of its own command on to this one. */
const options = [
  ...[
    '--include=dev',
    '--include=optional',
    '--ignore-scripts',
    '--prefer-offline',
    '--dry-run=false',
    '--global=false',
  ],
  ...[
    '--fetch-retry-mintimeout=500',
    '--fetch-retry-maxtimeout=2000',
    '--audit=false',
    '--fund=false',
    '--loglevel=error',
  ],
];

/** Runs `npm ci`. A signal kills npm first, which is safe because it works in a folder of its own. */
const runNpmCi = (args, cwd) =>
  new Promise((resolve, reject) => {
    const npm = spawn('npm', ['ci', ...options, ...args], {
      ...{ cwd, stdio: ['ignore', 'ignore', 'pipe'] },
      // There npm is a batch file, which needs a shell.
      shell: process.platform === 'win32',
    });
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    let received;
    let output = '';
    const stop = (signal) => {
      received = signal;
      npm.kill('SIGKILL');
    };
    for (const signal of signals) process.on(signal, stop);
    npm.stderr.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    npm.on('error', (error) => reject(new InstallError(`npm could not be started: ${error.message}`)));
    npm.on('close', (code) => {
      for (const signal of signals) process.off(signal, stop);
      if (received === undefined && code === 0) resolve();
      else reject(new InstallError(received ?? toReason(output), received));
    });
  });

/** The first line of npm's error output that is a sentence. */
const toReason = (output) =>
  output
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) (FetchError: )?/, ''))
    .find((line) => line.trim() !== '' && !/^(code|syscall|errno|type|path|dest) /.test(line)) ?? 'npm ci failed';
