import { cpus, freemem, loadavg, totalmem } from 'node:os';
import type { CountersReading } from '../readings.ts';

const millisecondsPerSecond = 1000;

/** Reads `HostReadings.counters` without starting a program: of swap and network it knows nothing. */
export const readCounters = (): CountersReading => {
  const cpuSeconds: Record<string, number> = {};
  for (const { times } of cpus()) {
    const byMode = { user: times.user, nice: times.nice, system: times.sys, idle: times.idle, irq: times.irq };
    for (const [mode, milliseconds] of Object.entries(byMode)) {
      cpuSeconds[mode] = (cpuSeconds[mode] ?? 0) + milliseconds / millisecondsPerSecond;
    }
  }
  return {
    cpuSeconds,
    load: loadavg()[0] ?? 0,
    memory: { total: totalmem(), available: freemem(), swapTotal: 0, swapFree: 0 },
    network: null,
  };
};
