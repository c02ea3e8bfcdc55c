import type { FileSystemReading, HostSample } from '../../host/readings.ts';
import type { Concern } from '../feature.ts';
import type { Severity } from '../severity.ts';

/** Shares of the machine, 0 to 1, as means of the last minute; NaN stands for unknown. */
export interface MinuteMeans {
  cpu: number;
  memory: number;
  /** False while less than a minute is known, of which one busy second is a large part. */
  isWhole: boolean;
}

type UsageSample = Pick<HostSample, 'at' | 'usage'>;

const minuteMs = 60_000;

/** Remembers how the machine was used in the last minute; `add` a sample about once a second. */
export const createLastMinute = () => {
  let samples: UsageSample[] = [];
  return {
    add: ({ at, usage }: UsageSample): void => {
      // What the first one says of the processors was before the minute.
      const first = samples.findLastIndex((sample) => sample.at <= at - minuteMs);
      samples = [...samples.slice(Math.max(0, first)), { at, usage }];
    },
    /** Undefined before the first sample. */
    means: (): MinuteMeans | undefined => {
      const [first, last] = [samples[0], samples.at(-1)];
      if (!first || !last) return undefined;
      return {
        cpu: toMean(samples.slice(1).map(({ usage }) => usage.cpu)),
        memory: toMean(samples.map(({ usage }) => usage.memoryUsed / usage.memoryTotal)),
        isWhole: last.at - first.at >= minuteMs,
      };
    },
  };
};

/** NaN if no value is known. */
const toMean = (values: readonly number[]): number => {
  const known = values.filter(Number.isFinite);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
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
