import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBundle, buildPackage, bundlePath, isBundleCurrent } from './bundle.mjs';
import { InstallError, Interruption, install, isInstalled, root } from './install.mjs';
import { withLock } from './lock.mjs';

export { root };

/**
 * Brings the bundle up to date and installs the packages that this needs; writes nothing if it is current. With
 * `orExisting`, an existing build is used if nothing can be installed or written. Exits if there is no program to run.
 */
export const prepareProgram = ({ orExisting = false } = {}) =>
  attempt(async () => {
    if (isProgramCurrent()) return;
    await underLock(async () => {
      if (isProgramCurrent()) return;
      if (!isInstalled('build')) await install('build', { retries: orExisting && isRunnable() ? 0 : 2 });
      if (!isBundleCurrent()) await buildBundle();
    });
  }, orExisting);

/** As `prepareProgram`, with the client, so that everything is there that the package holds. */
export const preparePackage = () =>
  attempt(() =>
    underLock(async () => {
      if (!isInstalled('build')) await install('build', { retries: 2 });
      await buildPackage();
    }),
  );

/** Brings the tools, the compiled tests and what the package holds up to date; exits if that fails. */
export const prepare = () =>
  attempt(() =>
    underLock(async () => {
      if (!isInstalled('all')) await install('all', { retries: 2 });
      runTool('typescript', 'tsc', ['--build']);
      await buildPackage();
    }),
  );

/** Runs a program with this process's input and output; exits with its exit code if it fails. */
export const run = (program, args) => {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

/** Runs a command of an installed package: `runTool('typescript', 'tsc', ['--build'])`. */
export const runTool = (name, command, args) => run(process.execPath, [toolPath(name, command), ...args]);

/** The script behind a command of an installed package. The files that npm puts into .bin need a shell on Windows. */
export const toolPath = (name, command) => {
  const folder = join(root, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
};

const isProgramCurrent = () => isBundleCurrent() && isInstalled('run');

/** True if there is a program of any version that runs. */
const isRunnable = () =>
  existsSync(bundlePath) &&
  Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies).every((name) =>
    existsSync(join(root, 'node_modules', name)),
  );

const underLock = (action) =>
  withLock(root, action, () => process.stderr.write('Waiting for another command that is building here ...\n'));

const attempt = async (action, orExisting = false) => {
  try {
    await action();
  } catch (error) {
    if (error instanceof Interruption) return endBy(error.signal);
    const reason = toReason(error);
    if (reason === undefined) throw error;
    if (orExisting && isRunnable()) process.stderr.write(`signalbox: running the existing build: ${reason}\n`);
    else fail(reason);
  }
};

/** Ends the process as the signal would have. */
const endBy = (signal) =>
  new Promise(() => {
    process.kill(process.pid, signal);
    setInterval(() => undefined, 1000);
  });

const fail = (reason) => {
  process.stderr.write(`signalbox: ${reason}\n`);
  process.exit(1);
};

/** Why nothing could be installed or built; undefined for an unexpected error. */
const toReason = (error) => {
  if (error instanceof InstallError) return `cannot install the dependencies: ${error.message}`;
  if (['EACCES', 'EPERM', 'EROFS', 'ENOSPC'].includes(error.code)) return `cannot write here: ${error.message}`;
  return undefined;
};
