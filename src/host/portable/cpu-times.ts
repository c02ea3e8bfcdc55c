import { type CpuInfo, cpus } from 'node:os';
import type { CpuSample, CpuTimes } from '../sampling/cpu-sampler.ts';

/** Processor times in milliseconds, by the names Linux has for them. */
export const readCpuTimes = (): CpuSample => toCpuSample(cpus());

export const toCpuSample = (processors: readonly Pick<CpuInfo, 'times'>[]): CpuSample => {
  const sample = new Map<string, CpuTimes>();
  const all: CpuTimes = { busy: 0, total: 0 };
  for (const [index, { times }] of processors.entries()) {
    const total = Object.values(times).reduce((sum, value) => sum + value, 0);
    const busy = total - times.idle;
    sample.set(`cpu${index}`, { busy, total });
    all.busy += busy;
    all.total += total;
  }
  return sample.set('cpu', all);
};
