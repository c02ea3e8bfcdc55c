import { readdir } from 'node:fs/promises';
import type { ProcessReading } from '../readings.ts';
import { createSharedReading } from '../shared-reading.ts';
import { mapInSlices } from '../time-slices.ts';
import { readKernelFile } from './kernel-file.ts';
import { readPageSize } from './page-size.ts';
import { createNameCompletion } from './process-names.ts';
import { type ProcessStat, parseProcessStat, parseResidentPages } from './process-stat.ts';

/**
 * Clock ticks in a second, as /proc counts them (USER_HZ). It can be asked for only through sysconf(3), but
 * it is part of the kernel's interface to programs: 100 on every architecture that Node runs on.
 */
const ticksPerSecond = 100;

const maxAgeMs = 500;

interface FoundProcess extends ProcessStat {
  pid: number;
  residentPages: number;
}

/**
 * Reads every process of a /proc; see `HostReadings.processes`. `bootedAt` is asked for each time, since
 * the clock may be set while the machine runs.
 */
export const createProcessReader = (procFolder: string, readBootedAt: () => Date) => {
  const pageSize = readPageSize();
  const completeNames = createNameCompletion(procFolder);
  const read = async (): Promise<readonly ProcessReading[]> => {
    const found = await mapInSlices(await listPids(procFolder), (pid) => readProcess(procFolder, pid));
    const fullNames = await completeNames(found);
    const bootedAt = readBootedAt().getTime();
    return mapInSlices(found, (process) => ({
      ...toReading(process, bootedAt, pageSize),
      name: fullNames.get(process.pid) ?? process.name.toString(),
    }));
  };
  return createSharedReading(read, maxAgeMs);
};

const listPids = async (procFolder: string): Promise<number[]> =>
  (await readdir(procFolder)).filter((name) => /^\d+$/.test(name)).map(Number);

/** Null for a process that has ended since its folder was listed. */
const readProcess = (procFolder: string, pid: number): FoundProcess | null => {
  const stat = readKernelFile(`${procFolder}/${pid}/stat`);
  const parsed = stat && parseProcessStat(stat);
  // statm and not stat's own figure: the kernel keeps that one per processor and adds it up only roughly.
  const statm = parsed && readKernelFile(`${procFolder}/${pid}/statm`);
  return statm && { ...parsed, pid, residentPages: parseResidentPages(statm) };
};

const toReading = (
  process: FoundProcess,
  bootedAt: number,
  pageSize: number,
): Omit<ProcessReading, 'name'> => ({
  pid: process.pid,
  parentPid: process.parentPid,
  userSeconds: process.userTicks / ticksPerSecond,
  kernelSeconds: process.kernelTicks / ticksPerSecond,
  workingSetBytes: process.residentPages * pageSize,
  virtualBytes: process.virtualBytes,
  threads: process.threads,
  sessionId: process.session,
  priority: process.priority,
  startedAt: new Date(bootedAt + (process.startTicks * 1000) / ticksPerSecond),
});
