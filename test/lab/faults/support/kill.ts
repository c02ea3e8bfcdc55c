import type { FaultServer } from './server.ts';

/** Kills the server, even under a wrapper, and waits until it has ended. */
export const killServer = async ({ child, pid, ended }: FaultServer): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGKILL');
  await ended;
};
