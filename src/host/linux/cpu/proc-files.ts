import type { CpuSeconds } from '../../readings.ts';

/** The columns of /proc/stat. Time of guests, which follows, is already in user and nice. */
const modes = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'];

/** The kernel counts processor time in hundredths of a second on every architecture that Node supports. */
const ticksPerSecond = 100;

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

/** Processor times from the content of /proc/stat. */
export const parseCpuSeconds = (stat: string): CpuSeconds =>
  new Map(
    Array.from(stat.matchAll(/^(cpu\d*) +([\d ]+)$/gm), ([, name = '', columns = '']) => {
      const ticks = columns.split(' ', modes.length);
      return [name, Object.fromEntries(ticks.map((value, index) => [modes[index], Number(value) / ticksPerSecond]))];
    }),
  );

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
