import { access, constants } from 'node:fs/promises';
import { CommandFailure } from '../../execution/runner.ts';

/** Absolute paths of systemd's programs; PATH is never used. */
export interface SystemPaths {
  systemctl: readonly string[];
  journalctl: readonly string[];
  /** Exists if systemd is the running init, see sd_booted(3). */
  bootMark: string;
}

export const systemPaths: SystemPaths = {
  systemctl: ['/usr/bin/systemctl', '/bin/systemctl'],
  journalctl: ['/usr/bin/journalctl', '/bin/journalctl'],
  bootMark: '/run/systemd/system',
};

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
