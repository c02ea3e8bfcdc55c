import type { FaultServer } from './server.ts';

/** Ends the server at once, also where a wrapper runs it, and waits until it is gone. */
export const killServer = async ({ child, pid, ended }: FaultServer): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) process.kill(pid, 'SIGKILL');
  await ended;
};
