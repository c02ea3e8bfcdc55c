import { readTimeOf, roundOrNull } from './reading.ts';
import type { HostReadings, ProcessReading } from './readings.ts';

/** Process with its usage of one CPU since the previous reading, as a share. Null if unknown. */
interface UsedProcess extends Pick<ProcessReading, 'pid' | 'parentPid' | 'name' | 'threads' | 'startedAt'> {
  user: string | null;
  /** Share, from 0 to the number of CPUs. */
  cpu: number | null;
  cpuSeconds: number | null;
  memoryBytes: number;
}

/** Chooses the processes to list. `shareOf` returns the usage of a process, or NaN if it is unknown. */
type ChooseProcesses = (
  processes: readonly ProcessReading[],
  shareOf: (process: ProcessReading) => number,
) => readonly ProcessReading[];

/** Creates a reader of processes with their usage since the previous reading. `begin` discards the previous reading. */
export const createUsageReader = (host: Pick<HostReadings, 'processes' | 'processOwners'>, choose: ChooseProcesses) => {
  let before = new Map<string, number>();
  let readAt = performance.now();
  const begin = (): void => before.clear();
  const read = async (): Promise<{ count: number; processes: UsedProcess[] }> => {
    const all = await host.processes();
    const now = readTimeOf(all);
    const seconds = (now - readAt) / 1000;
    const earlier = before;
    const shareOf = (process: ProcessReading): number =>
      Math.max(0, readSeconds(process) - (earlier.get(toKey(process)) ?? Number.NaN)) / seconds;
    const chosen = choose(all, shareOf);
    const owners = await host.processOwners(chosen);
    const processes = chosen.map((process) => ({
      pid: process.pid,
      parentPid: process.parentPid,
      name: process.name,
      user: owners.get(process.pid) ?? null,
      cpu: roundOrNull(shareOf(process), 4),
      cpuSeconds: cpuSecondsOf(process),
      memoryBytes: process.workingSetBytes,
      threads: process.threads,
      startedAt: process.startedAt,
    }));
    readAt = now;
    before = new Map(all.map((process) => [toKey(process), readSeconds(process)]));
    return { count: all.length, processes };
  };
  return { read, begin };
};

/** Returns a key that combines pid and start time, because another process may later get the same pid. */
const toKey = ({ pid, startedAt }: ProcessReading): string => `${pid} ${startedAt?.getTime()}`;

const readSeconds = ({ userSeconds, kernelSeconds }: ProcessReading): number =>
  userSeconds === null || kernelSeconds === null ? Number.NaN : userSeconds + kernelSeconds;

/** Returns the total CPU time of a process in seconds, with two decimals. Null if unknown. */
export const cpuSecondsOf = (process: ProcessReading): number | null => roundOrNull(readSeconds(process), 2);
