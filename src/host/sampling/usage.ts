import type { CountersReading } from '../readings.ts';

/** How the machine was used between two readings of its counters; NaN stands for unknown. */
export interface Usage {
  /** Busy share of all processors, 0 to 1. */
  cpu: number;
  /** Bytes. */
  memoryUsed: number;
  memoryTotal: number;
  swapUsed: number;
  /** Runnable processes, mean of a minute. */
  load: number;
  /** Bytes per second. */
  networkReceived: number;
  networkSent: number;
}

export const toUsage = (before: CountersReading, now: CountersReading, seconds: number): Usage => {
  const { memory, network } = now;
  // Counters begin again when an interface does.
  const rate = (key: 'received' | 'sent'): number =>
    network && before.network ? Math.max(0, network[key] - before.network[key]) / seconds : Number.NaN;
  return {
    cpu: toBusyShare(before.cpuSeconds, now.cpuSeconds),
    memoryUsed: memory ? memory.total - memory.available : Number.NaN,
    memoryTotal: memory?.total ?? Number.NaN,
    swapUsed: memory ? memory.swapTotal - memory.swapFree : Number.NaN,
    load: now.load,
    networkReceived: rate('received'),
    networkSent: rate('sent'),
  };
};

const toBusyShare = (before: Record<string, number>, now: Record<string, number>): number => {
  const passed = (modes: readonly string[]): number =>
    modes.reduce((sum, mode) => sum + (now[mode] ?? 0) - (before[mode] ?? 0), 0);
  const total = passed(Object.keys(now));
  return total > 0 ? Math.min(1, Math.max(0, 1 - passed(['idle', 'iowait']) / total)) : Number.NaN;
};
