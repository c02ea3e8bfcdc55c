import { setTimeout } from 'node:timers/promises';

/** The kernel counts processor time in steps of 10 ms, so a shorter interval would be inaccurate. */
const shortestMs = 200;

/** Processor time since the machine was started, in any unit. */
export interface CpuTimes {
  busy: number;
  total: number;
}

/** By processor: `cpu` for all of them together, `cpu0`, `cpu1`, … for each. */
export type CpuSample = ReadonlyMap<string, CpuTimes>;
export type CpuShares = ReadonlyMap<string, number>;

/** Takes a sample every `intervalMs` after the first call of `shares`; its timer does not keep the process alive. */
export const createCpuSampler = (read: () => CpuSample, intervalMs = 1000) => {
  let running: ReturnType<typeof startSampling> | undefined;
  return {
    /**
     * Busy shares (0 … 1) over the last complete interval. The first call starts sampling; until an interval is
     * complete, calls return the shares since then, and wait until that is 200 ms. Rejects if there is no sample.
     */
    shares: async (): Promise<CpuShares> => {
      running ??= startSampling(read, intervalMs);
      return running.shares();
    },
    close: (): void => running?.close(),
  };
};

const startSampling = (read: () => CpuSample, intervalMs: number) => {
  const startedAt = performance.now();
  let previous = read();
  let complete: CpuShares | undefined;
  const takeSample = (): void => {
    try {
      const current = read();
      complete = toCpuShares(previous, current);
      previous = current;
    } catch {
      // Without free descriptors no file can be opened. The next sample covers this interval too.
    }
  };
  const timer = setInterval(takeSample, intervalMs).unref();
  const shares = async (): Promise<CpuShares> => {
    const missingMs = startedAt + shortestMs - performance.now();
    if (!complete && missingMs > 0) await setTimeout(missingMs);
    return complete ?? toCpuShares(previous, read());
  };
  return { shares, close: () => clearInterval(timer) };
};

/** Share of busy time between two samples; 0 for a processor that is switched off. */
export const toCpuShares = (from: CpuSample, to: CpuSample): CpuShares => {
  const shares = new Map<string, number>();
  for (const [name, { busy, total }] of to) {
    const before = from.get(name) ?? { busy: 0, total: 0 };
    const passed = total - before.total;
    // The kernel's counters may step back a little.
    shares.set(name, passed > 0 ? Math.min(1, Math.max(0, (busy - before.busy) / passed)) : 0);
  }
  return shares;
};
