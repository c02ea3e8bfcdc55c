import { setTimeout } from 'node:timers/promises';
import type { CountersReading, HostSample } from '../readings.ts';
import { type CpuShares, toCpuShares, toUsage } from './usage.ts';

/** The kernel counts processor time in steps of 10 ms, so a shorter interval would be inaccurate. */
const shortestMs = 200;

type SampleListener = (sample: HostSample) => void;

/**
 * Reads the counters every `intervalMs` for everyone who needs to know how busy the machine is, so that all of them see the
 * same figures. It begins with the first who asks; its timer does not keep the process alive.
 */
export const createHostSampler = (read: () => CountersReading, intervalMs = 1000) => {
  const listeners = new Set<SampleListener>();
  let timer: NodeJS.Timeout | undefined;
  let last: HostSample | undefined;
  let complete: CpuShares | undefined;
  /** Whether sampling goes on although nobody listens. */
  let isAsked = false;

  const readSample = (): HostSample | undefined => {
    const counters = readOrSkip(read);
    if (!counters) return undefined;
    const at = performance.now();
    return { at, counters, usage: toUsage(last?.counters ?? counters, counters, (at - (last?.at ?? at)) / 1000) };
  };
  const sample = (): void => {
    const next = readSample();
    if (!next) return;
    if (last) complete = toCpuShares(last.counters.cpuSeconds, next.counters.cpuSeconds);
    last = next;
    for (const listener of listeners) listener(next);
  };
  const start = (): void => {
    if (timer) return;
    timer = setInterval(sample, intervalMs).unref();
    sample();
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    // What is measured next has nothing to do with the time in between.
    last = undefined;
    complete = undefined;
  };
  return {
    /** Calls the listener at once with the last sample, if there is one, and with each from now on. */
    listen: (listener: SampleListener): (() => void) => {
      const isRunning = timer !== undefined;
      listeners.add(listener);
      start();
      if (isRunning && last) listener(last);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && !isAsked) stop();
      };
    },
    /**
     * Busy shares (0 … 1) over the last complete interval; sampling goes on from then on. Until an interval is complete, calls
     * return the shares since the first sample, and wait until that is 200 ms. Rejects if there is no sample.
     */
    shares: async (): Promise<CpuShares> => {
      isAsked = true;
      start();
      if (!last) sample();
      const first = last;
      if (!first) throw new Error('the processor times of this machine cannot be read');
      const missingMs = first.at + shortestMs - performance.now();
      if (!complete && missingMs > 0) await setTimeout(missingMs);
      return complete ?? toCpuShares(first.counters.cpuSeconds, (readSample() ?? first).counters.cpuSeconds);
    },
    close: stop,
  };
};

/** Without free descriptors no file can be opened. The next sample covers this interval too. */
const readOrSkip = (read: () => CountersReading): CountersReading | undefined => {
  try {
    const counters = read();
    return counters.cpuSeconds.size > 0 ? counters : undefined;
  } catch {
    return undefined;
  }
};
