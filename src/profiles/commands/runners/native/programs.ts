import { access, constants } from 'node:fs/promises';
import { CommandFailure } from '../../execution/runner.ts';

/** Absolute paths of systemd's programs; PATH is never used. */
export const systemPaths = {
  systemctl: ['/usr/bin/systemctl', '/bin/systemctl'],
  journalctl: ['/usr/bin/journalctl', '/bin/journalctl'],
  /** Exists if systemd is the running init, see sd_booted(3). */
  bootMark: '/run/systemd/system',
};

export type SystemPaths = typeof systemPaths;

/** The first path that can be executed; a CommandFailure with `missing` if there is none. */
export const findProgram = async (paths: readonly string[], missing: string): Promise<string> => {
  for (const path of paths) {
    if (await isAccessible(path, constants.X_OK)) return path;
  }
  throw new CommandFailure(missing);
};

export const isAccessible = (path: string, mode = constants.F_OK): Promise<boolean> =>
  access(path, mode).then(
    () => true,
    () => false,
  );
