import { loadavg } from 'node:os';
import type { CountersReading } from '../readings.ts';
import { readKernelFile } from './kernel-file.ts';
import { parseMemory } from './system/system.ts';

/** The columns of /proc/stat. Time of guests, which follows, is already in user and nice. */
const modes = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'];

/** The kernel counts processor time in hundredths of a second on every architecture that Node supports. */
const ticksPerSecond = 100;

/** Interfaces whose bytes pass a real one too, or leave no machine. */
const virtual = /^(?:lo$|veth|docker|br-|virbr|cni|flannel|cali|tap|tun|wg|dummy|bond)/;

/** Reads `HostReadings.counters`. */
export const readCounters = (proc: string): CountersReading => {
  const stat = readText(`${proc}/stat`);
  const memory = parseMemory(readText(`${proc}/meminfo`));
  const network = readText(`${proc}/net/dev`);
  return {
    cpuSeconds: parseCpuSeconds(stat),
    load: loadavg()[0] ?? 0,
    memory: Number.isNaN(memory.total) ? null : memory,
    network: network === '' ? null : parseNetwork(network),
  };
};

const readText = (path: string): string => readKernelFile(path)?.toString('latin1') ?? '';

/** Seconds by mode from the first line of /proc/stat. */
export const parseCpuSeconds = (stat: string): Record<string, number> => {
  const [, columns] = /^cpu +([\d ]+)$/m.exec(stat) ?? [];
  const ticks = columns?.split(' ') ?? [];
  return Object.fromEntries(
    modes.slice(0, ticks.length).map((mode, index) => [mode, Number(ticks[index]) / ticksPerSecond]),
  );
};

/** Bytes of the real interfaces from the content of /proc/net/dev. */
export const parseNetwork = (dev: string): { received: number; sent: number } => {
  const total = { received: 0, sent: 0 };
  for (const [, name = '', columns = ''] of dev.matchAll(/^ *([^\s:]+):(.*)$/gm)) {
    if (virtual.test(name)) continue;
    const values = columns.trim().split(/ +/).map(Number);
    total.received += values[0] ?? 0;
    total.sent += values[8] ?? 0;
  }
  return total;
};
