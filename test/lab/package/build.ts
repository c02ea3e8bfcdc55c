import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../../src/server/package-info.ts';

/** Path of the single executable. */
export const executable = join(packageRoot, 'dist', 'signalbox-linux-x64');

/** Returns the reason why nothing can be built on this machine, or false. */
export const findObstacle = (): string | false => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the executable is for Linux on x64';
  if (process.env['CI'] === 'true') return false;
  if (spawnSync('strip', ['--version']).status !== 0) return 'strip, of binutils, is not installed';
  if (existsSync(executable)) return false;
  const { status } = spawnSync('npm', ['view', 'fastify', 'version', '--fetch-retries=0', '--fetch-timeout=10000']);
  return status !== 0 && 'the npm registry cannot be reached';
};

/** Runs `scripts/build.mjs NAME`. The script builds only outdated parts. Rejects with the output if the build fails. */
export const build = async (
  name: 'executable' | 'deb',
  args: readonly string[] = [],
  variables: Record<string, string> = {},
): Promise<void> => {
  await promisify(execFile)(process.execPath, [join(packageRoot, 'scripts', 'build.mjs'), name, ...args], {
    cwd: packageRoot,
    // The coverage of scripts is not measured.
    env: { ...process.env, NODE_V8_COVERAGE: '', ...variables },
  });
};
