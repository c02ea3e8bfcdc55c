import type { Disk, ReportedReadings } from '../../kit/host-report/report-schema.ts';

/** Values in a history row, in file order. Any change requires a new file version. */
export const valueColumns = [
  'cpu',
  'memoryUsed',
  'memoryTotal',
  'swapUsed',
  'load',
  'networkReceived',
  'networkSent',
  'diskRead',
  'diskWritten',
  'temperature',
  'pressureCpu',
  'pressureMemory',
  'pressureIo',
  'processCount',
] as const satisfies readonly (keyof ReportedReadings)[];

/** Maximum number of disks with columns. If there are more disks, only the first are stored. */
const mostDisks = 8;

/** Index of the first disk column. Each disk has two columns: used bytes and total bytes. */
export const diskColumnsAt = valueColumns.length;

export const rowLength = diskColumnsAt + 2 * mostDisks;

/** Disk assigned to a pair of columns. Their values describe this disk from `since` (Unix time) onwards. */
export interface DiskColumns {
  mountPath: string;
  since: number;
  /** Unix time of the last reading of the disk. */
  seenAt: number;
}

/**
 * Assigns columns to the disks in a report. New disks take free columns first, then the columns of the disks that have
 * not been seen for longest.
 */
export const assignDisks = (known: readonly DiskColumns[], disks: readonly Disk[], time: number): DiskColumns[] => {
  const next = known.map((each) => ({ ...each }));
  for (const { mountPath } of disks.slice(0, mostDisks)) {
    const own = next.find((each) => each.mountPath === mountPath);
    if (own) own.seenAt = time;
    else if (next.length < mostDisks) next.push({ mountPath, since: time, seenAt: time });
    else {
      const [oldest] = next.toSorted((a, b) => a.seenAt - b.seenAt);
      if (oldest && oldest.seenAt < time) Object.assign(oldest, { mountPath, since: time, seenAt: time });
    }
  }
  return next;
};

/** Keeps only the last disk of each mount path. A later mount hides an earlier one. */
export const dropHiddenDisks = (readings: ReportedReadings): ReportedReadings => {
  const { disks } = readings;
  if (!disks) return readings;
  return { ...readings, disks: [...new Map(disks.map((disk) => [disk.mountPath, disk])).values()] };
};

/** Converts readings to a row. NaN means unknown. */
export const toRow = (readings: ReportedReadings, disks: readonly DiskColumns[]): Float32Array => {
  const row = new Float32Array(rowLength).fill(Number.NaN);
  for (const [index, name] of valueColumns.entries()) row[index] = readings[name] ?? Number.NaN;
  for (const { mountPath, used, total } of readings.disks ?? []) {
    const place = disks.findIndex((each) => each.mountPath === mountPath);
    if (place >= 0) row.set([used, total], diskColumnsAt + 2 * place);
  }
  return row;
};

/** Converts the values of a row to JSON values. Unknown values become null. */
export const toPlainValues = (values: Float32Array): (number | null)[] =>
  Array.from(values, (each) => (Number.isFinite(each) ? each : null));

/** Converts JSON values to the values of a row. */
export const toRowValues = (values: readonly (number | null)[]): Float32Array =>
  Float32Array.from({ length: rowLength }, (_, column) => values[column] ?? Number.NaN);

/** Returns the mean of rows, ignoring unknown values. */
export const toMean = (rows: readonly Float32Array[]): Float32Array =>
  Float32Array.from({ length: rowLength }, (_, column) => {
    let sum = 0;
    let count = 0;
    for (const row of rows) {
      const value = row[column] as number;
      if (Number.isNaN(value)) continue;
      sum += value;
      count += 1;
    }
    return sum / count;
  });
