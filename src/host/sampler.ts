import { setTimeout } from 'node:timers/promises';
import { readOrNull } from './reading.ts';
import type { CountersReading, CpuSeconds, HostSample, Usage } from './readings.ts';

/**
 * Minimum interval in milliseconds. The kernel counts CPU time in steps of 10 ms, so a shorter interval would be
 * inaccurate.
 */
const shortestMs = 200;

/** Milliseconds for which sampling continues after a call if there is no listener. */
const askedForMs = 60_000;

type SampleListener = (sample: HostSample) => void;

/**
 * Creates a sampler that reads the counters every `intervalMs`. All callers get the same figures. Sampling begins with
 * the first caller. The timer does not keep the process alive.
 */
export const createHostSampler = (read: () => CountersReading, intervalMs = 1000, keptMs = askedForMs) => {
  const listeners = new Set<SampleListener>();
  let timer: NodeJS.Timeout | undefined;
  let before: HostSample | undefined;
  let last: HostSample | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  const readSample = (): HostSample | undefined => {
    // Without free descriptors, no file can be opened. The next sample then also covers this interval.
    const counters = readOrNull(read);
    if (!counters?.cpuSeconds.size) return undefined;
    const at = performance.now();
    return { at, counters, usage: toUsage(last?.counters ?? counters, counters, (at - (last?.at ?? at)) / 1000) };
  };
  const sample = (): void => {
    const next = readSample();
    if (!next) return;
    before = last;
    last = next;
    for (const listener of listeners) listener(next);
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    // The next sample must not include the pause.
    before = undefined;
    last = undefined;
  };
  const stopIfUnused = (): void => {
    if (listeners.size === 0 && performance.now() - askedAt >= keptMs) stop();
  };
  const start = (): void => {
    if (timer) return;
    timer = setInterval(() => {
      sample();
      stopIfUnused();
    }, intervalMs).unref();
    sample();
  };
  /**
   * Returns the usage of each CPU (0 … 1) over the last complete interval. Sampling then continues for a minute.
   * Until an interval is complete, calls wait until 200 ms after the first sample and return the usage since that
   * sample. Rejects without a sample.
   */
  const shares = async (): Promise<CpuShares> => {
    askedAt = performance.now();
    start();
    if (!last) sample();
    const first = last;
    if (!first) throw new Error('the CPU times of this machine cannot be read');
    const missingMs = first.at + shortestMs - performance.now();
    if (!before && missingMs > 0) await setTimeout(missingMs);
    const [from, to] = before && last ? [before, last] : [first, readSample() ?? first];
    return toCpuShares(from.counters.cpuSeconds, to.counters.cpuSeconds);
  };
  return {
    /** Calls the listener immediately with the last sample, if any, and then with each later sample. */
    listen: (listener: SampleListener): (() => void) => {
      const isRunning = timer !== undefined;
      listeners.add(listener);
      start();
      if (isRunning && last) listener(last);
      return () => {
        listeners.delete(listener);
        stopIfUnused();
      };
    },
    /** Returns the counters of the last sample. Reads them while sampling is off. */
    counters: (): CountersReading => last?.counters ?? read(),
    shares,
    /** Returns the combined usage of all CPUs. */
    cpuBusy: async (): Promise<number> => (await shares()).get('cpu') ?? 0,
    close: stop,
  };
};

/** Usage (0 … 1) by CPU: `cpu` for all CPUs together, and `cpu0`, `cpu1`, … for each. */
export type CpuShares = ReadonlyMap<string, number>;

const toUsage = (before: CountersReading, now: CountersReading, seconds: number): Usage => {
  const { memory, network } = now;
  // The counters of an interface restart together with the interface.
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

/** Computes the share of each CPU. 0 for a CPU that is switched off. */
export const toCpuShares = (from: CpuSeconds, to: CpuSeconds): CpuShares =>
  new Map(Array.from(to, ([name, seconds]) => [name, toBusyShare(from.get(name), seconds) || 0]));

type Seconds = Readonly<Record<string, number>>;

/**
 * Returns the CPU usage (0 … 1). NaN if no time has passed. A CPU that has just been switched on is
 * measured from that moment.
 */
const toBusyShare = (before: Seconds = {}, now: Seconds = {}): number => {
  const passed = (modes: readonly string[]): number =>
    modes.reduce((sum, mode) => sum + (now[mode] ?? 0) - (before[mode] ?? 0), 0);
  const total = passed(Object.keys(now));
  // The kernel's counters may decrease slightly.
  return total > 0 ? Math.min(1, Math.max(0, 1 - passed(['idle', 'iowait']) / total)) : Number.NaN;
};
