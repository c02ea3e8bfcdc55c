import { access, constants } from 'node:fs/promises';
import { CommandFailure } from '../../execution/runner.ts';

/** Where systemd's parts are found; never looked up in PATH. */
export interface SystemPaths {
  systemctl: readonly string[];
  journalctl: readonly string[];
  /** Exists while systemd is the machine's init, see sd_booted(3). */
  bootMark: string;
}

export const systemPaths: SystemPaths = {
  systemctl: ['/usr/bin/systemctl', '/bin/systemctl'],
  journalctl: ['/usr/bin/journalctl', '/bin/journalctl'],
  bootMark: '/run/systemd/system',
};

/** The first of the paths that can be executed; else a CommandFailure with `missing`. */
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
