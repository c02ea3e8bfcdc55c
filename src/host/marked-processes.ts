import { readFile } from 'node:fs/promises';
import { listPids, parseProcessStat } from './linux/processes.ts';
import { createHangGuard, readKernelFile } from './reading.ts';

/** Milliseconds after which processes that keep starting others are given up. */
const maxMs = 2000;

const maxReadMs = 250;

/** Reading the environment of a process may hang, because the memory of a stuck process is locked. */
const guard = createHangGuard();

/** Reads the start of a process in clock ticks. 0 if it has ended, and on systems without /proc. */
export const readStartTicks = (pid: number | undefined): number => {
  const stat = readKernelFile(`/proc/${pid}/stat`);
  return stat ? parseProcessStat(stat).startTicks : 0;
};

/**
 * Kills all processes started since `startTicks` whose environment contains an assignment, such as `NAME=value`, and all
 * that they start meanwhile. Finds no processes on systems without /proc, and none of other users unless this process is
 * privileged.
 */
export const killMarked = async (assignment: string, startTicks: number): Promise<void> => {
  const killed = new Set<number>();
  const deadline = performance.now() + maxMs;
  const kill = async (pid: number): Promise<boolean> => {
    if (killed.has(pid) || readStartTicks(pid) < startTicks || !(await isMarked(pid, assignment))) return false;
    process.kill(pid, 'SIGKILL');
    killed.add(pid);
    return true;
  };
  for (let isDone = false; !isDone && performance.now() < deadline; ) {
    isDone = true;
    for (const pid of await listPids('/proc').catch(() => [])) {
      if (await kill(pid).catch(() => false)) isDone = false;
    }
  }
};

const isMarked = async (pid: number, assignment: string): Promise<boolean> => {
  const environment = await guard(() => readFile(`/proc/${pid}/environ`, 'latin1'), maxReadMs);
  return environment?.split('\0').includes(assignment) === true;
};
