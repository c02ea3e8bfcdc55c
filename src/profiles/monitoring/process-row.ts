import type { ProcessReading } from '../../host/readings.ts';
import type { ProcessRow } from './schema.ts';
import { toRounded } from './units.ts';

const bytesPerMiB = 2 ** 20;

/** Each reading is put in order once, however many requests it answers. */
const rankings = new WeakMap<readonly ProcessReading[], readonly ProcessReading[]>();

/** Largest working set first; equal ones by process id. */
export const toRanking = (processes: readonly ProcessReading[]): readonly ProcessReading[] => {
  const ranking =
    rankings.get(processes) ??
    processes.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes || a.pid - b.pid);
  rankings.set(processes, ranking);
  return ranking;
};

export const toProcessRow = (process: ProcessReading): ProcessRow => ({
  name: process.name,
  pid: process.pid,
  memoryMB: toRounded(process.workingSetBytes / bytesPerMiB, 1),
  cpu: toProcessorSeconds(process),
});

const toProcessorSeconds = ({ userSeconds, kernelSeconds }: ProcessReading): number | null =>
  userSeconds === null || kernelSeconds === null ? null : toRounded(userSeconds + kernelSeconds, 2);
