import { hostname, uptime } from 'node:os';
import type { FileSystemReading, HostReadings } from '../readings.ts';
import { createHostSampler } from '../sampling/host-sampler.ts';
import { createSharedReading } from '../sampling/shared-reading.ts';
import { readCounters } from './counters.ts';
import { toFileSystemReadings, toFixedDisks } from './file-systems.ts';
import { toProcessDetails, toProcessReading } from './processes.ts';
import { toProcessorReadings } from './processors.ts';
import { toSystemReading } from './system.ts';

/** Loaded on first use: loading takes longer than the rest of startup, and Linux never needs it. */
const load = () => import('systeminformation');

/** On Windows this reading takes seconds, and its values rarely change. */
const systemMaxAgeMs = 60_000;

/**
 * Readings through systeminformation, which starts the system's own programs for some of them. It reports no processor
 * times, thread counts, handles or private memory of processes: these are null.
 */
export const createPortableReadings = (): HostReadings => {
  const sampler = createHostSampler(readCounters);
  // systeminformation itself keeps a list for 500 ms.
  const listed = createSharedReading(async () => (await (await load()).processes()).list, 0);
  const storage = createSharedReading(readStorage, 0);
  return {
    hostname,
    system: createSharedReading(readSystem, systemMaxAgeMs),
    uptimeSeconds: uptime,
    memory: readMemory,
    cpuBusy: async () => (await sampler.shares()).get('cpu') ?? 0,
    processors: async () => toProcessorReadings(await (await load()).cpu(), await sampler.shares()),
    counters: readCounters,
    listen: sampler.listen,
    processes: async () => (await listed()).map(toProcessReading),
    processCount: async () => (await listed()).length,
    processDetails: async (pids) => {
      const wanted = new Set(pids);
      const found = (await listed()).filter(({ pid }) => wanted.has(pid));
      return new Map(found.map((process) => [process.pid, toProcessDetails(process)]));
    },
    processOwners: async () =>
      new Map((await listed()).flatMap(({ pid, user }): [number, string][] => (user ? [[pid, user]] : []))),
    fileSystems: async () => (await storage()).fileSystems,
    fixedDisks: async () => (await storage()).fixedDisks,
    close: sampler.close,
  };
};

const readSystem: HostReadings['system'] = async () => {
  const { osInfo, system, users } = await load();
  const [os, hardware, sessions] = await Promise.all([osInfo(), system(), users()]);
  return toSystemReading({ os, system: hardware, users: sessions });
};

const readMemory: HostReadings['memory'] = async () => {
  const { total, available, swaptotal, swapfree } = await (await load()).mem();
  return { total, available, swapTotal: swaptotal, swapFree: swapfree };
};

const readStorage = async (): Promise<Record<'fileSystems' | 'fixedDisks', FileSystemReading[]>> => {
  const { fsSize, blockDevices } = await load();
  const [sizes, devices] = await Promise.all([fsSize(), blockDevices()]);
  const fileSystems = toFileSystemReadings(sizes, devices);
  return { fileSystems, fixedDisks: toFixedDisks(fileSystems, devices) };
};
