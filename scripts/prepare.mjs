import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBundle, buildPackage, bundlePath, external, isBundleCurrent } from './bundle.mjs';
import { InstallError, install, isInstalled, root } from './install.mjs';
import { withLock } from './lock.mjs';

export { root };

/**
 * Updates the bundle and installs the packages needed to build it; writes nothing if the bundle is current. With
 * `orExisting`, uses an existing build if nothing can be installed or written. Exits if no program can run.
 */
export const prepareProgram = async ({ orExisting = false } = {}) => {
  if (isInstalled('build') && isBundleCurrent()) return;
  await attempt(async () => {
    await install('build', { retries: orExisting && isRunnable() ? 0 : 2 });
    await buildBundle();
  }, orExisting);
};

/** Like `prepareProgram`, but also builds the client, so that the package's contents are complete. */
export const preparePackage = () =>
  attempt(async () => {
    await install('build', { retries: 2 });
    await buildPackage();
  });

/** Updates the tools, the compiled tests and the contents of the package; exits on failure. */
export const prepare = () =>
  attempt(async () => {
    await install('all', { retries: 2 });
    runTool('typescript', 'tsc', ['--build']);
    await buildPackage();
  });

/** Runs a program with this process's input and output; exits with the program's exit code if it fails. */
export const run = (program, args) => {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

/** Runs a command of an installed package: `runTool('typescript', 'tsc', ['--build'])`. */
export const runTool = (name, command, args) => run(process.execPath, [toolPath(name, command), ...args]);

/**
 * Returns the script behind a command of an installed package. The files that npm puts into .bin need a shell on
 * Windows.
 */
export const toolPath = (name, command) => {
  const folder = join(root, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[command]);
};

/** True if a program of any version exists and runs. */
const isRunnable = () =>
  [bundlePath, ...external.map((name) => join(root, 'node_modules', name))].every((path) => existsSync(path));

/** Runs an action under the lock. */
const attempt = async (action, orExisting = false) => {
  try {
    await withLock(action);
  } catch (error) {
    const isUnwritable = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC'].includes(error.code);
    if (!isUnwritable && !(error instanceof InstallError)) throw error;
    const reason = `cannot ${isUnwritable ? 'write here' : 'install the dependencies'}: ${error.message}`;
    const isGoingOn = orExisting && error.signal === undefined && isRunnable();
    process.stderr.write(`signalbox: ${isGoingOn ? 'running the existing build: ' : ''}${reason}\n`);
    if (!isGoingOn) process.exit(1);
  }
};
