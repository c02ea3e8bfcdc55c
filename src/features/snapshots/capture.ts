import { setTimeout } from 'node:timers/promises';
import { createUsageReader } from '../../host/process-usage.ts';
import { roundOrNull } from '../../host/reading.ts';
import {
  type DiskTraffic,
  type FileSystemReading,
  type HostReadings,
  type JournalReading,
  type ProcessReading,
  pressures,
  type Usage,
} from '../../host/readings.ts';
import type { HistorySource } from '../../kit/offers.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import { redact } from './redact.ts';
import { type MachineSnapshot, mostJournalEntries, mostSnapshotProcesses } from './schema.ts';

/** Milliseconds until what is not there yet is left out, and between the two readings that rates are measured by. */
const limitMs = 900;
const betweenMs = 520;

/** The most bytes of a snapshot. */
const mostBytes = 64 * 1024;

/** The most characters of a line of the journal, and of a name; the most disks and failed units. */
const longestLine = 400;
const longestName = 80;
const mostDisks = 20;
const mostUnits = 50;

interface CaptureParts {
  host: HostReadings;
  /** Of the last second; undefined before the first sample. */
  usage(): Usage | undefined;
  history: HistorySource | undefined;
  clock: () => Date;
}

type Processes = Awaited<ReturnType<ReturnType<typeof createUsageReader>['read']>>;

/** Records what the machine is doing, within a second. What cannot be read by then is null. */
export const captureMachine = async ({ host, usage, history, clock }: CaptureParts): Promise<MachineSnapshot> => {
  const takenAt = clock().toISOString();
  const begunAt = performance.now();
  /** Undefined for what fails or takes too long. */
  const inTime = <T>(reading: Promise<T>): Promise<T | undefined> =>
    awaitWithin(Math.max(0, begunAt + limitMs - performance.now()), reading).catch(() => undefined);
  // As it was at the beginning; the rest goes on at the same time.
  const present = usage();
  const recent = history?.readRecent() ?? null;
  const [units, entries, disks, processes] = [
    inTime(host.units()),
    inTime(host.journalEntries(mostJournalEntries)),
    inTime(host.fixedDisks()),
    createUsageReader(host, chooseBusiest),
  ];
  const firstAt = performance.now();
  const trafficBefore = host.diskTraffic();
  const first = await inTime(processes.read());
  // Readings are shared for a while: another one begins only then.
  await setTimeout(Math.max(0, firstAt + betweenMs - performance.now()), undefined, { ref: false });
  const seconds = (performance.now() - firstAt) / 1000;
  const trafficAfter = host.diskTraffic();
  const second = await inTime(processes.read());
  const found = second ?? first;
  return {
    takenAt,
    hostname: host.hostname(),
    usage: toUsage(present),
    pressure: toPressure(host),
    processes: found ? toProcesses(found) : null,
    disks: ((await disks) ?? []).slice(0, mostDisks).map((disk) => toDisk(disk, trafficBefore, trafficAfter, seconds)),
    history: recent,
    failedUnits: toFailed(await units),
    journal: toLines(await entries),
    tookMs: Math.round(performance.now() - begunAt),
  };
};

/** Its JSON, without so many of the oldest lines of the journal that it is short enough. */
export const toBoundedJson = (snapshot: MachineSnapshot): string => {
  let { journal } = snapshot;
  for (;;) {
    const text = JSON.stringify({ ...snapshot, journal });
    const surplus = Buffer.byteLength(text) - mostBytes;
    if (surplus <= 0) return text;
    // Without them it is short: names and numbers are bounded.
    if (!journal?.length) return JSON.stringify({ ...snapshot, journal: null, history: null });
    journal = journal.slice(Math.ceil(journal.length / 4));
  }
};

/** The processes of both lists. */
const chooseBusiest = (
  processes: readonly ProcessReading[],
  shareOf: (process: ProcessReading) => number,
): ProcessReading[] => {
  const byMemory = processes.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes);
  const shares = new Map(processes.map((process) => [process, shareOf(process) || 0]));
  const byCpu = processes.toSorted((a, b) => (shares.get(b) ?? 0) - (shares.get(a) ?? 0));
  return [...new Set([...byMemory.slice(0, mostSnapshotProcesses), ...byCpu.slice(0, mostSnapshotProcesses)])];
};

const toProcesses = ({ count, processes }: Processes): MachineSnapshot['processes'] => {
  const rows = processes.map((process) => ({
    ...process,
    name: redact(process.name, longestName),
    user: process.user && redact(process.user, longestName),
    startedAt: process.startedAt?.toISOString() ?? null,
  }));
  return {
    count,
    byCpu: rows.toSorted((a, b) => (b.cpu ?? 0) - (a.cpu ?? 0) || a.pid - b.pid).slice(0, mostSnapshotProcesses),
    byMemory: rows.toSorted((a, b) => b.memoryBytes - a.memoryBytes || a.pid - b.pid).slice(0, mostSnapshotProcesses),
  };
};

const toUsage = (usage: Usage | undefined): MachineSnapshot['usage'] => ({
  cpu: roundOrNull(usage?.cpu, 4),
  memoryUsed: roundOrNull(usage?.memoryUsed),
  memoryTotal: roundOrNull(usage?.memoryTotal),
  swapUsed: roundOrNull(usage?.swapUsed),
  load: roundOrNull(usage?.load, 2),
  networkReceived: roundOrNull(usage?.networkReceived),
  networkSent: roundOrNull(usage?.networkSent),
});

const toPressure = (host: Pick<HostReadings, 'pressure'>): MachineSnapshot['pressure'] => {
  const [cpu = null, memory = null, io = null] = pressures.map((resource) => host.pressure(resource));
  return { cpu, memory, io };
};

type Traffic = ReadonlyMap<string, DiskTraffic>;

/** As `df` counts: space reserved for root is neither used nor free. */
const toDisk = (disk: FileSystemReading, before: Traffic, after: Traffic, seconds: number) => {
  const [from, to] = [before, after].map((traffic) => traffic.get(disk.deviceNumber ?? ''));
  const rate = (key: keyof DiskTraffic): number | null =>
    roundOrNull(from && to && Math.max(0, to[key] - from[key]) / seconds);
  return {
    mountPath: disk.mountPath.slice(0, 4 * longestName),
    used: disk.usedBytes,
    total: disk.usedBytes + disk.availableBytes,
    read: rate('read'),
    written: rate('written'),
  };
};

const toFailed = (units: Awaited<ReturnType<HostReadings['units']>> | undefined): string[] | null =>
  units
    ?.filter(({ isLoaded, active }) => isLoaded && active === 'failed')
    .slice(0, mostUnits)
    .map(({ name }) => name.slice(0, 2 * longestName)) ?? null;

/** Audit says of each program with what arguments it was started. */
const toLines = (entries: readonly JournalReading[] | null | undefined): MachineSnapshot['journal'] =>
  entries
    ?.filter(({ transport }) => transport !== 'audit')
    .map(({ at, source, priority, text }) => ({
      time: at.toISOString(),
      source: redact(source, longestName),
      priority,
      text: redact(text, longestLine),
    })) ?? null;
