import type { FileSystemReading, ProcessReading } from '../../host/readings.ts';
import type { DiskRow, ProcessRow } from './schema.ts';
import { toRounded } from './units.ts';

const bytesPerMiB = 2 ** 20;
const bytesPerGiB = 2 ** 30;

interface Ranking {
  readonly processes: readonly ProcessReading[];
  /** The rows of the first processes, as many as requests have asked for. */
  readonly rows: ProcessRow[];
}

/** Each reading is sorted once, and each of its rows is built once, for all requests that share it. */
const rankings = new WeakMap<readonly ProcessReading[], Ranking>();

/** The first rows: largest working set first, equal ones by process id. */
export const listProcessRows = (reading: readonly ProcessReading[], top: number): ProcessRow[] => {
  const { processes, rows } = rankings.get(reading) ?? rank(reading);
  for (const process of processes.slice(rows.length, top)) rows.push(toProcessRow(process));
  return rows.slice(0, top);
};

export const toProcessRow = (process: ProcessReading): ProcessRow => ({
  name: process.name,
  pid: process.pid,
  memoryMB: toRounded(process.workingSetBytes / bytesPerMiB, 1),
  cpu: toProcessorSeconds(process),
});

/** A disk as `df` shows it: space reserved for root counts as neither used nor free. */
export const toDiskRow = ({ mountPath, totalBytes, usedBytes, availableBytes }: FileSystemReading): DiskRow => ({
  drive: mountPath,
  totalGB: toRounded(totalBytes / bytesPerGiB, 2),
  freeGB: toRounded(availableBytes / bytesPerGiB, 2),
  usagePct: usedBytes === 0 ? 0 : toRounded((100 * usedBytes) / (usedBytes + availableBytes), 1),
});

const rank = (reading: readonly ProcessReading[]): Ranking => {
  const processes = reading.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes || a.pid - b.pid);
  const ranking: Ranking = { processes, rows: [] };
  rankings.set(reading, ranking);
  return ranking;
};

const toProcessorSeconds = ({ userSeconds, kernelSeconds }: ProcessReading): number | null =>
  userSeconds === null || kernelSeconds === null ? null : toRounded(userSeconds + kernelSeconds, 2);
