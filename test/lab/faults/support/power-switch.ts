import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Switch that stops a mounted file system as a power cut does: unwritten data, even in its journal, is lost. */
export interface PowerSwitch {
  /** Cuts the power. Takes effect immediately, because the program is already running. */
  cut(): Promise<void>;
  /** Releases the file system. Must be called even if there was no cut. */
  release(): Promise<void>;
}

/** Creates a switch for ext4 and xfs. To use the file system again, unmount and mount it. */
export const createPowerSwitch = (path: string): PowerSwitch => {
  const program = spawn('xfs_io', ['-x', path], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = once(program, 'close');
  return {
    cut: async () => {
      program.stdin.end('shutdown\n');
      await ended;
    },
    release: async () => {
      program.stdin.end();
      await ended;
    },
  };
};
