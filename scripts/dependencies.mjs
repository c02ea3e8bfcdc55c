import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const readPackages = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;

/** Whether node_modules holds what the lockfile names; packages for other systems may be missing. */
const isInstalled = (root) => {
  const installedLock = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedLock)) return false;
  const installed = readPackages(installedLock);
  return Object.entries(readPackages(join(root, 'package-lock.json'))).every(
    ([path, { version, optional }]) => path === '' || (installed[path]?.version ?? (optional && version)) === version,
  );
};

/** Installs the locked dependencies where they are missing or out of date; ends the process when that fails. */
export const ensureDependencies = (root) => {
  if (isInstalled(root)) return;
  process.stderr.write('Installing dependencies ...\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], root);
};

/** Runs a program with this one's input and output; ends the process with its exit code when it fails. */
export const run = (program, args, root, environment = {}) => {
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...environment },
    shell: process.platform === 'win32',
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};
