import type { FileSystemReading } from '../../host/readings.ts';
import type { Concern } from '../feature.ts';
import type { Severity } from '../severity.ts';
import type { MinuteMeans } from './last-minute.ts';

/** From these shares on, the machine needs attention. */
const limits = { cpu: 0.95, memory: 0.92, disk: 0.9, fullDisk: 0.97 };

/** What of the machine needs attention: its processors and memory over a whole minute, its disks now. */
export const findHostConcerns = (
  means: MinuteMeans | undefined,
  disks: readonly Pick<FileSystemReading, 'mountPath' | 'usedBytes' | 'availableBytes'>[],
): Concern[] => {
  const { cpu, memory } = means?.isWhole ? means : { cpu: 0, memory: 0 };
  return [
    ...(cpu >= limits.cpu ? [toConcern(`The processors were ${toPercent(cpu)} busy over the last minute`)] : []),
    ...(memory >= limits.memory ? [toConcern(`${toPercent(memory)} of the memory is in use`)] : []),
    ...disks.flatMap(({ mountPath, usedBytes, availableBytes }) => {
      // As `df` counts: space reserved for root is neither used nor free.
      const used = usedBytes / (usedBytes + availableBytes);
      if (!(used >= limits.disk)) return [];
      return [toConcern(`${mountPath} is ${toPercent(used)} full`, used >= limits.fullDisk ? 'CRITICAL' : 'WARNING')];
    }),
  ];
};

const toConcern = (text: string, severity: Severity = 'WARNING'): Concern => ({ area: 'host', severity, text });

/** Rounded down: what is not quite full is not 100 % full. */
const toPercent = (share: number): string => `${Math.floor(share * 100)} %`;
