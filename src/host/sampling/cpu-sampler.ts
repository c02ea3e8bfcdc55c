import { setTimeout } from 'node:timers/promises';

/** Below this an interval is too short for a fair share: the kernel counts processor time in steps of 10 ms. */
const shortestMs = 200;

/** Processor time since the machine was started, in any unit. */
export interface CpuTimes {
  busy: number;
  total: number;
}

/** By processor: `cpu` for all of them together, `cpu0`, `cpu1`, … for each. */
export type CpuSample = ReadonlyMap<string, CpuTimes>;
export type CpuShares = ReadonlyMap<string, number>;

export interface CpuSampler {
  /**
   * Busy shares (0 … 1) over the last complete interval. Before the first one is complete: over the time
   * since the sampler was created, which is waited for until it is 200 ms long.
   */
  shares(): Promise<CpuShares>;
  close(): void;
}

/** Reads a sample now and every `intervalMs`; its timer keeps no process alive. */
export const createCpuSampler = (read: () => CpuSample, intervalMs = 1000): CpuSampler => {
  const createdAt = performance.now();
  let previous = read();
  let complete: CpuShares | undefined;
  const timer = setInterval(() => {
    const current = read();
    complete = toCpuShares(previous, current);
    previous = current;
  }, intervalMs).unref();
  const shares = async (): Promise<CpuShares> => {
    const missingMs = createdAt + shortestMs - performance.now();
    if (!complete && missingMs > 0) {
      await setTimeout(missingMs);
    }
    return complete ?? toCpuShares(previous, read());
  };
  return { shares, close: () => clearInterval(timer) };
};

/** Share of busy time between two samples; 0 for a processor that did not count (switched off). */
export const toCpuShares = (from: CpuSample, to: CpuSample): CpuShares => {
  const shares = new Map<string, number>();
  for (const [name, { busy, total }] of to) {
    const before = from.get(name) ?? { busy: 0, total: 0 };
    const passed = total - before.total;
    // The kernel's counters may step back a little, so the share is kept within its bounds.
    shares.set(name, passed > 0 ? Math.min(1, Math.max(0, (busy - before.busy) / passed)) : 0);
  }
  return shares;
};
