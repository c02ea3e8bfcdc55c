import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Slice } from '../lib/slice.ts';
import { listPids, parseProcessStat } from './linux/processes.ts';
import { createHangGuard, readKernelFile } from './reading.ts';

/** Milliseconds after which processes that keep starting others are given up. */
const maxMs = 2000;

const maxReadMs = 250;

/** Milliseconds before an environment that could not be read in time is read again. */
const retryMs = 50;

/** Reading the environment of a process may hang, because the memory of a stuck process is locked. */
const guard = createHangGuard();

/** Reads the start of a process in clock ticks. 0 if it has ended, and on systems without /proc. */
export const readStartTicks = (pid: number | undefined): number => {
  const stat = readKernelFile(`/proc/${pid}/stat`);
  return stat ? parseProcessStat(stat).startTicks : 0;
};

/**
 * Kills all processes started since `startTicks` whose environment contains an assignment, such as `NAME=value`, and the
 * processes that they start meanwhile. Kills nothing on systems without /proc. Processes of other users are killed only
 * if this process is privileged.
 */
export const killMarked = async (assignment: string, startTicks: number): Promise<void> => {
  const killed = new Set<number>();
  const deadline = performance.now() + maxMs;
  const slice = new Slice();
  /** Kills a process if it has the mark. Resolves to true if another round must follow. */
  const kill = async (pid: number): Promise<boolean> => {
    const ticks = readStartTicks(pid);
    if (killed.has(pid) || ticks < startTicks) return false;
    const environment = await readEnvironment(pid);
    if (environment === null) {
      await setTimeout(retryMs);
      return true;
    }
    // Meanwhile, another process may have received the process id.
    if (!environment.split('\0').includes(assignment) || readStartTicks(pid) !== ticks) return false;
    process.kill(pid, 'SIGKILL');
    killed.add(pid);
    return true;
  };
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const pid of await listPids('/proc').catch(() => [])) {
      if (performance.now() > deadline) return;
      if (slice.isOver) await slice.giveWay();
      if (await kill(pid).catch(() => false)) isDone = false;
    }
  }
};

/** Reads the environment of a process. Resolves to null if the read takes too long. */
const readEnvironment = (pid: number): Promise<string | null> =>
  guard(() => readFile(`/proc/${pid}/environ`, 'latin1'), maxReadMs);
