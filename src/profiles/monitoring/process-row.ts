import type { ProcessReading } from '../../host/readings.ts';
import type { ProcessRow } from './schema.ts';
import { toRounded } from './units.ts';

const bytesPerMiB = 2 ** 20;

interface Ranking {
  readonly processes: readonly ProcessReading[];
  /** The rows of the first of them, as many as were asked for so far. */
  readonly rows: ProcessRow[];
}

/** Each reading is put in order once, and each of its rows made once, however many requests it answers. */
const rankings = new WeakMap<readonly ProcessReading[], Ranking>();

/** The first rows: largest working set first, equal ones by process id. */
export const listRows = (reading: readonly ProcessReading[], top: number): ProcessRow[] => {
  const { processes, rows } = rankings.get(reading) ?? rank(reading);
  for (const process of processes.slice(rows.length, top)) rows.push(toProcessRow(process));
  return rows.slice(0, top);
};

const rank = (reading: readonly ProcessReading[]): Ranking => {
  const processes = reading.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes || a.pid - b.pid);
  const ranking: Ranking = { processes, rows: [] };
  rankings.set(reading, ranking);
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
