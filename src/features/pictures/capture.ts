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
import { type MachinePicture, maxJournalLines, maxPictureBytes, maxPictureProcesses } from './schema.ts';

/** Milliseconds after which a slow reading is left out of the picture. */
const limitMs = 900;

/** Milliseconds between the two readings that rates are computed from. */
const betweenMs = 520;

/** Maximum length in characters of a journal line, and of a name. */
const maxLineLength = 400;
const maxNameLength = 80;

const maxDisks = 20;
const maxUnits = 50;

interface CaptureParts {
  host: HostReadings;
  /** Returns the usage in the last second. Undefined before the first sample. */
  usage(): Usage | undefined;
  history: HistorySource | undefined;
  clock: () => Date;
}

type Processes = Awaited<ReturnType<ReturnType<typeof createUsageReader>['read']>>;

/** Reads the state of the machine within a second. Values that cannot be read in time are null. */
export const captureMachine = async ({ host, usage, history, clock }: CaptureParts): Promise<MachinePicture> => {
  const takenAt = clock().toISOString();
  const begunAt = performance.now();
  /** Resolves to the reading, or to undefined if it fails or takes too long. */
  const inTime = <T>(reading: Promise<T>): Promise<T | undefined> =>
    awaitWithin(Math.max(0, begunAt + limitMs - performance.now()), reading).catch(() => undefined);
  const present = usage();
  const recent = history?.readRecent() ?? null;
  const units = inTime(host.units());
  const entries = inTime(host.journalEntries(maxJournalLines));
  const disks = inTime(host.fixedDisks());
  const processes = createUsageReader(host, chooseBusiest);
  const firstAt = performance.now();
  const trafficBefore = host.diskTraffic();
  const first = await inTime(processes.read());
  // Callers share a reading of the processes for 500 ms.
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
    disks: ((await disks) ?? []).slice(0, maxDisks).map((disk) => toDisk(disk, trafficBefore, trafficAfter, seconds)),
    history: recent,
    failedUnits: toFailed(await units),
    journal: toLines(await entries),
    tookMs: Math.round(performance.now() - begunAt),
  };
};

/** Returns a picture as JSON. Leaves out the oldest journal lines if the JSON would otherwise exceed 64 KiB. */
export const toBoundedJson = (picture: MachinePicture): string => {
  let { journal } = picture;
  for (;;) {
    const text = JSON.stringify({ ...picture, journal });
    const surplus = Buffer.byteLength(text) - maxPictureBytes;
    if (surplus <= 0) return text;
    if (!journal?.length) return JSON.stringify({ ...picture, journal: null, history: null });
    journal = journal.slice(Math.ceil(journal.length / 4));
  }
};

/** Returns the processes with the most memory or the most CPU time. */
const chooseBusiest = (
  processes: readonly ProcessReading[],
  shareOf: (process: ProcessReading) => number,
): ProcessReading[] => {
  const byMemory = processes.toSorted((a, b) => b.workingSetBytes - a.workingSetBytes);
  const shares = new Map(processes.map((process) => [process, shareOf(process) || 0]));
  const byCpu = processes.toSorted((a, b) => (shares.get(b) ?? 0) - (shares.get(a) ?? 0));
  return [...new Set([...byMemory.slice(0, maxPictureProcesses), ...byCpu.slice(0, maxPictureProcesses)])];
};

const toProcesses = ({ count, processes }: Processes): MachinePicture['processes'] => {
  const rows = processes.map((process) => ({
    ...process,
    name: redact(process.name, maxNameLength),
    user: process.user && redact(process.user, maxNameLength),
    startedAt: process.startedAt?.toISOString() ?? null,
  }));
  return {
    count,
    byCpu: rows.toSorted((a, b) => (b.cpu ?? 0) - (a.cpu ?? 0) || a.pid - b.pid).slice(0, maxPictureProcesses),
    byMemory: rows.toSorted((a, b) => b.memoryBytes - a.memoryBytes || a.pid - b.pid).slice(0, maxPictureProcesses),
  };
};

const toUsage = (usage: Usage | undefined): MachinePicture['usage'] => ({
  cpu: roundOrNull(usage?.cpu, 4),
  memoryUsed: roundOrNull(usage?.memoryUsed),
  memoryTotal: roundOrNull(usage?.memoryTotal),
  swapUsed: roundOrNull(usage?.swapUsed),
  load: roundOrNull(usage?.load, 2),
  networkReceived: roundOrNull(usage?.networkReceived),
  networkSent: roundOrNull(usage?.networkSent),
});

const toPressure = (host: Pick<HostReadings, 'pressure'>): MachinePicture['pressure'] => {
  const [cpu = null, memory = null, io = null] = pressures.map((resource) => host.pressure(resource));
  return { cpu, memory, io };
};

type Traffic = ReadonlyMap<string, DiskTraffic>;

/** Converts the reading of a disk. As in `df`, space reserved for root counts as neither used nor free. */
const toDisk = (disk: FileSystemReading, before: Traffic, after: Traffic, seconds: number) => {
  const [from, to] = [before, after].map((traffic) => traffic.get(disk.deviceNumber ?? ''));
  const rate = (key: keyof DiskTraffic): number | null =>
    roundOrNull(from && to && Math.max(0, to[key] - from[key]) / seconds);
  return {
    mountPath: disk.mountPath.slice(0, 4 * maxNameLength),
    used: disk.usedBytes,
    total: disk.usedBytes + disk.availableBytes,
    read: rate('read'),
    written: rate('written'),
  };
};

const toFailed = (units: Awaited<ReturnType<HostReadings['units']>> | undefined): string[] | null =>
  units
    ?.filter(({ isLoaded, active }) => isLoaded && active === 'failed')
    .slice(0, maxUnits)
    .map(({ name }) => name.slice(0, 2 * maxNameLength)) ?? null;

/** Converts journal entries to lines. Leaves out audit lines, because they contain arguments of programs. */
const toLines = (entries: readonly JournalReading[] | null | undefined): MachinePicture['journal'] =>
  entries
    ?.filter(({ transport }) => transport !== 'audit')
    .map(({ at, source, priority, text }) => ({
      time: at.toISOString(),
      source: redact(source, maxNameLength),
      priority,
      text: redact(text, maxLineLength),
    })) ?? null;
