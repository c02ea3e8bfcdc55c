import type { FileSystemReading } from '../../host/readings.ts';
import type { DiskRow } from './schema.ts';
import { toRounded } from './units.ts';

const bytesPerGB = 2 ** 30;

/** A disk as `df` shows it: what is kept for root counts as neither used nor free. */
export const toDiskRow = ({
  mountPath,
  totalBytes,
  usedBytes,
  availableBytes,
}: FileSystemReading): DiskRow => ({
  drive: mountPath,
  totalGB: toRounded(totalBytes / bytesPerGB, 2),
  freeGB: toRounded(availableBytes / bytesPerGB, 2),
  usagePct: usedBytes === 0 ? 0 : toRounded((100 * usedBytes) / (usedBytes + availableBytes), 1),
});
