import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Prefix of the folders that npm installs into, next to node_modules. */
const stagingPrefix = '.build-install-';

/** An installation that failed; the message is one line. */
export class InstallError extends Error {}

/** A signal that arrived while npm was running. */
export class Interruption extends Error {
  constructor(signal) {
    super(signal);
    this.signal = signal;
  }
}

const readPackages = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {});

const readInstalled = () => readPackages(join(root, 'node_modules', '.package-lock.json'));

/**
 * True if node_modules has the locked versions of the packages needed to `run` the bundle, to `build` it, or of `all`.
 * Packages for other systems may be missing.
 */
export const isInstalled = (purpose) => {
  const locked = readPackages(join(root, 'package-lock.json'));
  const installed = readInstalled();
  const isCurrent = (path) => installed[path]?.version === locked[path].version;
  if (purpose === 'all') {
    return Object.keys(locked).every(
      (path) => path === '' || isCurrent(path) || (locked[path].optional && !installed[path]),
    );
  }
  const { dependencies, devDependencies } = locked[''];
  const direct = Object.keys(purpose === 'run' ? dependencies : { ...dependencies, ...devDependencies });
  const others = purpose === 'run' ? [] : Object.keys(installed).filter((path) => locked[path]);
  return direct.every((name) => isCurrent(`node_modules/${name}`)) && others.every(isCurrent);
};

/**
 * Installs the packages needed to `build` the program, or `all` of them, into a new folder, which replaces node_modules
 * once it is complete. Tools that were installed before stay installed. Call it under the lock.
 */
export const install = async (purpose, { retries }) => {
  removeLeftovers();
  const all = purpose === 'all' || 'node_modules/signalbox-tools' in readInstalled();
  process.stderr.write(`Installing ${all ? 'dependencies and tools (370 MB)' : 'dependencies (57 MB)'} ...\n`);
  const staging = mkdtempSync(join(root, stagingPrefix));
  try {
    for (const path of ['package.json', 'package-lock.json', '.npmrc', join('tools', 'package.json')]) {
      if (existsSync(join(root, path))) cpSync(join(root, path), join(staging, path));
    }
    await runNpm(['ci', ...options, `--fetch-retries=${retries}`, ...(all ? [] : ['--workspaces=false'])], staging);
    const target = join(root, 'node_modules');
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
  const wanted = readFileSync(join(source, 'package-lock.json'));
  if (existsSync(done) && readFileSync(lock).equals(wanted)) return;
  process.stderr.write(`${announcement}\n`);
  mkdirSync(target, { recursive: true });
  cpSync(source, target, { recursive: true });
  await runNpm(['ci', '--ignore-scripts', '--audit=false', '--fund=false', '--loglevel=error'], target);
};

/** Explicit, because npm passes the options of its own command on to this one. */
const options = [
  ...['--include=dev', '--include=optional', '--ignore-scripts', '--prefer-offline'],
  ...['--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000'],
  ...['--dry-run=false', '--global=false', '--audit=false', '--fund=false', '--loglevel=error'],
];

/** Removes the folders of installations that were killed. */
const removeLeftovers = () => {
  for (const name of readdirSync(root).filter((entry) => entry.startsWith(stagingPrefix))) {
    rmSync(join(root, name), { recursive: true, force: true });
  }
};

/** Runs npm. A signal kills npm first, which is safe because it works in a folder of its own. */
export const runNpm = (args, cwd) =>
  new Promise((resolve, reject) => {
    const [program, ...before] = findNpm();
    const npm = spawn(program, [...before, ...args], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
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
      if (received) reject(new Interruption(received));
      else if (code !== 0) reject(new InstallError(toReason(output)));
      else resolve();
    });
  });

/** The npm that runs this script, or the one next to this Node.js; on Windows, only these start without a shell. */
const findNpm = () => {
  const { npm_execpath: given = '' } = process.env;
  const modules = process.platform === 'win32' ? ['node_modules'] : ['..', 'lib', 'node_modules'];
  const beside = join(dirname(process.execPath), ...modules, 'npm', 'bin', 'npm-cli.js');
  const script = basename(given) === 'npm-cli.js' ? given : beside;
  return existsSync(script) ? [process.execPath, script] : ['npm'];
};

/** The first line of npm's error output that is a sentence. */
const toReason = (output) => {
  const lines = output.split('\n').map((line) => line.replace(/^npm (error|ERR!) (FetchError: )?/, ''));
  return (
    lines.find((line) => line.trim() !== '' && !/^(code|syscall|errno|type|path|dest) /.test(line)) ?? 'npm ci failed'
  );
};
