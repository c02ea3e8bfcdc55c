import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** True in CI, where everything is installed, so that no test is skipped. */
export const isCi = process.env['CI'] === 'true';

interface Requirements {
  programs?: string[];
  /**
   * True if the test mounts file systems. Mounting requires root and a kernel that permits it (in many containers, it
   * does not).
   */
  mounts?: boolean;
  /** True if the test uses loop devices. */
  loops?: boolean;
}

/**
 * Returns options for a test that needs more than Node. If something is missing, the test is skipped with a reason, but
 * fails in CI.
 */
export const requires = ({ programs = [], mounts = false, loops = false }: Requirements): { skip: string | false } => {
  if (isCi) return { skip: false };
  const missing = programs.find((name) => !isInstalled(name));
  if (missing) return { skip: `${missing} is not installed` };
  if (mounts && !canMount()) return { skip: 'mounting needs root' };
  if (loops && !isReadable('/dev/loop-control')) return { skip: 'there are no loop devices' };
  return { skip: false };
};

/**
 * True for an installed program. On Debian, sbin is missing from the PATH of ordinary users, who cannot mount anyway.
 */
const isInstalled = (name: string): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => isProgram(join(folder, name)));

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
};

/** True if the process may create a mount namespace in which mounting works. */
const canMount = (): boolean => process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
