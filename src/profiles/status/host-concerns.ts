import type { CountersReading, FileSystemReading } from '../../host/readings.ts';
import { toUsage } from '../../host/sampler.ts';
import type { Concern } from '../feature.ts';
import type { Severity } from '../severity.ts';

/** Shares of the machine, 0 to 1, as means of the last minute; NaN stands for unknown. */
export interface MinuteMeans {
  cpu: number;
  memory: number;
  /** False while less than a minute is known, of which one busy second is a large part. */
  isWhole: boolean;
}

interface Sample {
  /** Seconds on a clock that is never set. */
  at: number;
  counters: CountersReading;
}

const minute = 60;

/** Remembers the counters of the last minute; `add` them about once a second. */
export const createLastMinute = () => {
  let samples: Sample[] = [];
  return {
    add: (at: number, counters: CountersReading): void => {
      // The mean needs one sample that is a minute old.
      const first = samples.findLastIndex((sample) => sample.at <= at - minute);
      samples = [...samples.slice(Math.max(0, first)), { at, counters }];
    },
    /** Undefined before the first sample. */
    means: (): MinuteMeans | undefined => {
      const [first, last] = [samples[0], samples.at(-1)];
      if (!first || !last) return undefined;
      const shares = samples.flatMap(({ counters: { memory } }) => (memory ? 1 - memory.available / memory.total : []));
      return {
        cpu: toUsage(first.counters, last.counters, last.at - first.at).cpu,
        memory: shares.reduce((sum, share) => sum + share, 0) / shares.length,
        isWhole: last.at - first.at >= minute,
      };
    },
  };
};

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
