import { readFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import type { HostReadings } from '../readings.ts';
import { createHangGuard, createHostSampler, createSharedReading } from '../sampler.ts';
import { readCounters } from './counters.ts';
import { parseBootTime, readPackages, toProcessorReadings } from './cpu.ts';
import { createFileSystemReader } from './file-systems.ts';
import { createOwnerReader, createProcessReader, listPids, readProcessDetails } from './processes.ts';
import { readMemory, readSystem } from './system.ts';

const systemMaxAgeMs = 500;

/** Processors change only in virtual machines, and rarely. */
const packagesMaxAgeMs = 60_000;

/** Readings from /proc, /sys and /etc. `root` is a prefix for all these paths, to read another tree than this machine's. */
export const createLinuxReadings = (root = ''): HostReadings => {
  const proc = `${root}/proc`;
  const readStat = (): string => readFileSync(`${proc}/stat`, 'utf8');
  const sampler = createHostSampler(() => readCounters(root));
  const packages = createSharedReading(() => readPackages(root), packagesMaxAgeMs);
  // One guard for everything that may hang, so it costs at most one thread in total.
  const guard = createHangGuard();
  return {
    hostname,
    system: createSharedReading(() => readSystem(root), systemMaxAgeMs),
    uptimeSeconds: uptime,
    memory: () => readMemory(proc),
    cpuBusy: async () => (await sampler.shares()).get('cpu') ?? 0,
    processors: async () => toProcessorReadings(root, await packages(), await sampler.shares()),
    counters: () => readCounters(root),
    listen: sampler.listen,
    processes: createProcessReader(proc, () => parseBootTime(readStat()), guard),
    processCount: async () => (await listPids(proc)).length,
    processDetails: (pids) => readProcessDetails(proc, pids),
    processOwners: createOwnerReader(proc, `${root}/etc/passwd`),
    ...createFileSystemReader(root, guard),
    close: sampler.close,
  };
};
