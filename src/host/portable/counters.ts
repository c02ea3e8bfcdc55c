import { type CpuInfo, cpus, freemem, loadavg, totalmem } from 'node:os';
import type { CountersReading, CpuSeconds } from '../readings.ts';

const millisecondsPerSecond = 1000;

/** Reads `HostReadings.counters` without starting a program: of swap and network it knows nothing. */
export const readCounters = (): CountersReading => ({
  cpuSeconds: toCpuSeconds(cpus()),
  load: loadavg()[0] ?? 0,
  memory: { total: totalmem(), available: freemem(), swapTotal: 0, swapFree: 0 },
  network: null,
});

/** Processor times by the names that Linux has for them. */
export const toCpuSeconds = (processors: readonly Pick<CpuInfo, 'times'>[]): CpuSeconds => {
  const all: Record<string, number> = {};
  const each = processors.map(({ times: { user, nice, sys, idle, irq } }, index) => {
    const seconds = Object.entries({ user, nice, system: sys, idle, irq }).map(
      ([mode, milliseconds]) => [mode, milliseconds / millisecondsPerSecond] as const,
    );
    for (const [mode, value] of seconds) all[mode] = (all[mode] ?? 0) + value;
    return [`cpu${index}`, Object.fromEntries(seconds)] as const;
  });
  return new Map([['cpu', all], ...each]);
};
