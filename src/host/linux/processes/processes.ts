import { readdir } from 'node:fs/promises';
import type { ProcessReading } from '../../readings.ts';
import type { HangGuard } from '../../sampling/hang-guard.ts';
import { createSharedReading } from '../../sampling/shared-reading.ts';
import { mapInSlices } from '../../sampling/time-slices.ts';
import { readKernelFile } from '../kernel-file.ts';
import { createNameCompletion, isCut, type NamedProcess } from './names.ts';
import { type ProcessStat, parseProcessStat, parseResidentPages, readPageSize } from './stat.ts';

/**
 * Clock ticks in a second, as /proc counts them (USER_HZ). Only sysconf(3) reports it, but it is part of the kernel's
 * interface to programs: 100 on every architecture that Node runs on.
 */
const ticksPerSecond = 100;

const maxAgeMs = 500;

type FoundProcess = ProcessStat & { pid: number; residentPages: number };

/**
 * Reads every process of a /proc; see `HostReadings.processes`. `readBootedAt` is called for each reading, since the
 * clock may be set while the machine runs.
 */
export const createProcessReader = (procFolder: string, readBootedAt: () => Date, guard: HangGuard) => {
  let pageSize: number | undefined;
  const completeNames = createNameCompletion(procFolder, guard);
  const read = async (): Promise<readonly ProcessReading[]> => {
    pageSize ??= readPageSize();
    const size = pageSize;
    const bootedAt = readBootedAt().getTime();
    const cut: NamedProcess[] = [];
    // Keeping parsed files beyond their slice would slow down garbage collection.
    const processes = await mapInSlices(await listPids(procFolder), (pid) => {
      const found = readProcess(procFolder, pid);
      if (found && isCut(found)) cut.push(found);
      return found && toReading(found, bootedAt, size);
    });
    const fullNames = await completeNames(cut);
    return processes.map((process) => {
      const name = fullNames.get(process.pid);
      return name === undefined ? process : { ...process, name };
    });
  };
  return createSharedReading(read, maxAgeMs);
};

export const listPids = async (procFolder: string): Promise<number[]> =>
  (await readdir(procFolder)).filter((name) => /^\d+$/.test(name)).map(Number);

/** Null for a process that has ended since its folder was listed. */
const readProcess = (procFolder: string, pid: number): FoundProcess | null => {
  const stat = readKernelFile(`${procFolder}/${pid}/stat`);
  const parsed = stat && parseProcessStat(stat);
  // The resident size in `stat` is only approximate: the kernel counts it per processor.
  const statm = parsed && readKernelFile(`${procFolder}/${pid}/statm`);
  return statm && { ...parsed, pid, residentPages: parseResidentPages(statm) };
};

const toReading = (process: FoundProcess, bootedAt: number, pageSize: number): ProcessReading => ({
  pid: process.pid,
  parentPid: process.parentPid,
  name: process.name.toString(),
  userSeconds: process.userTicks / ticksPerSecond,
  kernelSeconds: process.kernelTicks / ticksPerSecond,
  workingSetBytes: process.residentPages * pageSize,
  virtualBytes: process.virtualBytes,
  threads: process.threads,
  sessionId: process.session,
  priority: process.priority,
  startedAt: new Date(bootedAt + (process.startTicks * 1000) / ticksPerSecond),
});
