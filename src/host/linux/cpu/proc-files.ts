import type { CpuSample, CpuTimes } from '../../sampling/cpu-sampler.ts';

/** A block of /proc/cpuinfo: one logical processor. Null stands for values that this machine does not report. */
export interface CpuInfo {
  /** The N of `cpuN`. */
  index: number;
  name: string | null;
  manufacturer: string | null;
  socket: number | null;
  mhz: number | null;
  /** The flag that every hypervisor sets for its guests on x86; other architectures do not report it. */
  isGuest: boolean | null;
}

/** Parses the content of /proc/cpuinfo. */
export const parseCpuInfo = (content: string): CpuInfo[] =>
  content
    .split('\n\n')
    .filter((block) => /^processor\s*:/m.test(block))
    .map(parseBlock);

/** When the machine was started, from the content of /proc/stat (`btime`, whole seconds). */
export const parseBootTime = (stat: string): Date => new Date(Number(/^btime (\d+)$/m.exec(stat)?.[1]) * 1000);

/**
 * Processor times in clock ticks from the content of /proc/stat: user, nice, system, idle, iowait, irq, softirq,
 * steal. The two columns for guests that follow are already included in user and nice.
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

const parseBlock = (block: string): CpuInfo => {
  const textOf = (key: string): string | null =>
    new RegExp(`^${key}[ \\t]*:[ \\t]*(.+)$`, 'm').exec(block)?.[1]?.trim() ?? null;
  const numberOf = (key: string): number | null => {
    const value = textOf(key);
    return value === null ? null : Number(value);
  };
  const flags = textOf('flags');
  return {
    index: Number(textOf('processor')),
    name: textOf('model name'),
    manufacturer: textOf('vendor_id'),
    socket: numberOf('physical id'),
    mhz: numberOf('cpu MHz'),
    isGuest: flags === null ? null : flags.split(' ').includes('hypervisor'),
  };
};
