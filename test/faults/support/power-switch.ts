import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Stops a mounted file system as a power cut does: what it has not written yet, its own journal too, is gone. */
export interface PowerSwitch {
  /** Begins at once, since the program is running already. */
  cut(): Promise<void>;
  /** Lets go of the file system; needed whether it was cut or not. */
  release(): Promise<void>;
}

/** For ext4 and xfs. To come back, the file system has to be unmounted and mounted. */
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
