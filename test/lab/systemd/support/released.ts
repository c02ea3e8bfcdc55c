import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../../src/server/package-info.ts';
import { createFolder } from '../../../support/folder.ts';
import type { Scope } from '../../../support/scope.ts';

/** Last commit of 1.0.0. */
const commit = '7b1dee0793f11bae15e324761d05f9c087000cbd';

/** Returns the reason why the package of 1.0.0 cannot be built, or false. */
export const findMissingHistory = (): string | false =>
  spawnSync('git', ['cat-file', '-e', commit], { cwd: packageRoot }).status !== 0 &&
  'the history of the repository is not here: git fetch --unshallow';

/**
 * Builds the Debian package of 1.0.0 with the scripts of its commit and the libraries in its lockfile. Returns its
 * path. The package never changes, so it stays in the build folder.
 */
export const buildReleased = async (scope: Scope, variables: Record<string, string>): Promise<string> => {
  const path = join(packageRoot, 'dist', 'released', 'signalbox_1.0.0_amd64.deb');
  if (existsSync(path)) return path;
  const run = promisify(execFile);
  const folder = createFolder(scope);
  await run('sh', ['-c', 'git archive "$1" | tar --extract --directory "$2"', 'sh', commit, folder], {
    cwd: packageRoot,
  });
  const { stdout: time } = await run('git', ['log', '-1', '--format=%ct', commit], { cwd: packageRoot });
  // Coverage is measured only for the current program.
  const env = { ...process.env, ...variables, SOURCE_DATE_EPOCH: time.trim(), NODE_V8_COVERAGE: '' };
  await run(process.execPath, ['scripts/build-deb.mjs'], { cwd: folder, env });
  mkdirSync(dirname(path), { recursive: true });
  const built = join(folder, 'dist', 'signalbox_1.0.0_amd64.deb');
  await run('cp', [built, `${path}.new`]);
  renameSync(`${path}.new`, path);
  rmSync(built);
  return path;
};
