import type { CountersReading, CpuSeconds, Usage } from '../readings.ts';

/** Busy shares (0 … 1) by processor: `cpu` for all of them together, `cpu0`, `cpu1`, … for each. */
export type CpuShares = ReadonlyMap<string, number>;

export const toUsage = (before: CountersReading, now: CountersReading, seconds: number): Usage => {
  const { memory, network } = now;
  // Counters begin again when an interface does.
  const rate = (key: 'received' | 'sent'): number =>
    network && before.network ? Math.max(0, network[key] - before.network[key]) / seconds : Number.NaN;
  return {
    cpu: toBusyShare(before.cpuSeconds.get('cpu'), now.cpuSeconds.get('cpu')),
    memoryUsed: memory ? memory.total - memory.available : Number.NaN,
    memoryTotal: memory?.total ?? Number.NaN,
    swapUsed: memory ? memory.swapTotal - memory.swapFree : Number.NaN,
    load: now.load,
    networkReceived: rate('received'),
    networkSent: rate('sent'),
  };
};

/** The share of each processor; 0 for one that is switched off. */
export const toCpuShares = (from: CpuSeconds, to: CpuSeconds): CpuShares =>
  new Map(Array.from(to, ([name, seconds]) => [name, toBusyShare(from.get(name), seconds) || 0]));

type Seconds = Readonly<Record<string, number>>;

/** NaN if no time has passed. A processor that was just switched on is measured from its own start. */
const toBusyShare = (before: Seconds = {}, now: Seconds = {}): number => {
  const passed = (modes: readonly string[]): number =>
    modes.reduce((sum, mode) => sum + (now[mode] ?? 0) - (before[mode] ?? 0), 0);
  const total = passed(Object.keys(now));
  // The kernel's counters may step back a little.
  return total > 0 ? Math.min(1, Math.max(0, 1 - passed(['idle', 'iowait']) / total)) : Number.NaN;
};
