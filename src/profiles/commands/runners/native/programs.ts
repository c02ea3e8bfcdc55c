import { findProgram } from '../../../../host/programs.ts';
import { CommandFailure } from '../../execution/runner.ts';

/** Absolute paths of systemd's programs; PATH is never used. */
export const systemPaths = {
  systemctl: ['/usr/bin/systemctl', '/bin/systemctl'],
  journalctl: ['/usr/bin/journalctl', '/bin/journalctl'],
  /** Exists if systemd is the running init, see sd_booted(3). */
  bootMark: '/run/systemd/system',
};

export type SystemPaths = typeof systemPaths;

/** The first path that can be executed. Rejects with a CommandFailure with the message `missing` if there is none. */
export const requireProgram = async (paths: readonly string[], missing: string): Promise<string> => {
  const program = await findProgram(paths);
  if (program === null) throw new CommandFailure(missing);
  return program;
};
