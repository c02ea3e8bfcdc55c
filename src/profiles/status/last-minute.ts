import type { CountersReading } from '../../host/readings.ts';
import { toUsage } from '../../host/sampler.ts';

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
