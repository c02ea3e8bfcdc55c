import { hostname, uptime } from 'node:os';
import { readDiskTraffic, readLinuxCounters } from './linux/counters.ts';
import { createFileSystemReader } from './linux/file-systems.ts';
import {
  createOwnerReader,
  createProcessReader,
  estimateReadingMs,
  listPids,
  readProcessDetails,
} from './linux/processes.ts';
import { readPressure, readTemperatures } from './linux/sensors.ts';
import { createSystemReader, readPackages, toLinuxProcessors } from './linux/system.ts';
import { readJournalEntries, readLoadedUnits } from './linux/systemd.ts';
import { createPortableReadings } from './portable.ts';
import { createHangGuard, createSharedReading } from './reading.ts';
import type { HostReadings } from './readings.ts';
import { createHostSampler } from './sampler.ts';

/** Maximum age of the reading in milliseconds. Processors change only in virtual machines, and rarely. */
const packagesMaxAgeMs = 60_000;

/** Maximum age of the reading in milliseconds. Lets several watches of units share the output of one program. */
const unitsMaxAgeMs = 5000;

/** Creates the readings for this machine. */
export const createHostReadings = (platform: NodeJS.Platform = process.platform): HostReadings =>
  platform === 'linux' ? createLinuxReadings() : createPortableReadings();

/**
 * Creates readings from /proc, /sys and /etc. `root` is a prefix of all these paths, so that a tree of another machine
 * can be read.
 */
export const createLinuxReadings = (root = ''): HostReadings => {
  const proc = `${root}/proc`;
  const { shares, ...sampled } = createHostSampler(() => readLinuxCounters(root));
  const readBootedAt = (): Date => sampled.counters().bootedAt ?? new Date(Date.now() - uptime() * 1000);
  const packages = createSharedReading(() => readPackages(root), packagesMaxAgeMs);
  // A single guard for all reads that may hang, so that they block at most one thread in total.
  const guard = createHangGuard();
  return {
    hostname,
    system: createSystemReader(root, readBootedAt),
    uptimeSeconds: uptime,
    ...sampled,
    memory: async () =>
      sampled.counters().memory ?? Promise.reject(new Error('the memory of this machine cannot be read')),
    processors: async () => toLinuxProcessors(root, await packages(), await shares()),
    processes: createProcessReader(proc, readBootedAt, guard),
    processReadingMs: () => estimateReadingMs(proc),
    processCount: async () => (await listPids(proc)).length,
    processDetails: (pids) => readProcessDetails(proc, pids),
    processOwners: createOwnerReader(proc, `${root}/etc/passwd`),
    ...createFileSystemReader(root, guard),
    diskTraffic: () => readDiskTraffic(root),
    temperatures: () => readTemperatures(root),
    pressure: (resource) => readPressure(root, resource),
    units: createSharedReading(readLoadedUnits, unitsMaxAgeMs),
    journalEntries: readJournalEntries,
  };
};
