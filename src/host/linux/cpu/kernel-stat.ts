import type { CpuSample, CpuTimes } from '../../sampling/cpu-sampler.ts';

/** When the machine was started, from the content of /proc/stat (`btime`, whole seconds). */
export const parseBootTime = (stat: string): Date =>
  new Date(Number(/^btime (\d+)$/m.exec(stat)?.[1]) * 1000);

/**
 * Processor times in clock ticks from the content of /proc/stat: user, nice, system, idle, iowait, irq,
 * softirq, steal. The two columns for guests that follow are contained in user and nice already.
 */
export const parseCpuTimes = (stat: string): CpuSample => {
  const sample = new Map<string, CpuTimes>();
  for (const [, name = '', columns = ''] of stat.matchAll(/^(cpu\d*) +([\d ]+)$/gm)) {
    const ticks = columns.split(' ', 8).map(Number);
    const [, , , idle = 0, iowait = 0] = ticks;
    const total = ticks.reduce((sum, value) => sum + value, 0);
    sample.set(name, { busy: total - idle - iowait, total });
  }
  return sample;
};
