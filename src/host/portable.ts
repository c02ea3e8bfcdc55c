import { arch, type CpuInfo, cpus, freemem, hostname, loadavg, release, totalmem, uptime, version } from 'node:os';
import { basename, join } from 'node:path';
import type { Systeminformation } from 'systeminformation';
import { createSharedReading, freshMs, timeReadings } from './reading.ts';
import type {
  CountersReading,
  CpuSeconds,
  FileSystemKind,
  FileSystemReading,
  HostReadings,
  ProcessDetails,
  ProcessorReading,
  ProcessReading,
  SystemReading,
} from './readings.ts';
import { type CpuShares, createHostSampler } from './sampler.ts';

/** Loads the library on first use. Loading takes longer than the rest of startup, and Linux never needs the library. */
const load = () => import('systeminformation');

/** Maximum age of the reading in milliseconds. The reading takes seconds on Windows, and its values rarely change. */
const systemMaxAgeMs = 60_000;

/**
 * Creates readings with systeminformation. It runs system programs for some of them. It does not report processor
 * times, thread counts, handles and private memory of processes, so these are null.
 */
export const createPortableReadings = (): HostReadings => {
  const { shares, ...sampled } = createHostSampler(readPortableCounters);
  // The library itself caches a list for 500 ms.
  const listed = createSharedReading(async () => (await (await load()).processes()).list, 0);
  const storage = createSharedReading(readStorage, 0);
  return {
    hostname,
    system: createSharedReading(readSystem, systemMaxAgeMs),
    uptimeSeconds: uptime,
    memory: readMemory,
    ...sampled,
    processors: async () => toPortableProcessors(await (await load()).cpu(), await shares()),
    processes: timeReadings(async () => (await listed()).map(toProcessReading)),
    // Zero, because other programs read the processes.
    processReadingMs: async () => 0,
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
    disksOfMinute: createSharedReading(async () => (await storage()).fixedDisks, freshMs),
    diskTraffic: () => new Map(),
    temperatures: () => [],
    pressure: () => null,
    units: async () => null,
    journalEntries: async () => null,
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
  return { fileSystems, fixedDisks: toPortableDisks(fileSystems, devices) };
};

interface Found {
  os: Pick<Systeminformation.OsData, 'distro' | 'release' | 'fqdn' | 'hypervizor'>;
  system: Pick<Systeminformation.SystemData, 'manufacturer' | 'model' | 'virtual'>;
  users: readonly unknown[];
}

/** Combines values from systeminformation with values from Node. */
export const toSystemReading = ({ os, system, users }: Found): SystemReading => ({
  hostname: hostname(),
  domain: toDomain(os.fqdn),
  osName: [os.distro, os.release].filter(isKnown).join(' ') || null,
  osVersion: release(),
  osBuild: version(),
  architecture: arch(),
  manufacturer: isKnown(system.manufacturer) ? system.manufacturer : null,
  model: isKnown(system.model) ? system.model : null,
  hypervisorPresent: os.hypervizor ?? system.virtual,
  bootedAt: readBootTime(),
  userCount: users.length,
});

/** Returns the part of the full name after the host's own name, or null. */
export const toDomain = (fullName: string): string | null => fullName.split('.').slice(1).join('.') || null;

const isKnown = (value: string): boolean => value !== '' && value !== 'unknown';

type Cpu = Pick<
  Systeminformation.CpuData,
  'manufacturer' | 'brand' | 'speed' | 'speedMax' | 'cores' | 'physicalCores' | 'processors'
> & { cache: Pick<Systeminformation.CpuCacheData, 'l2' | 'l3'> };

/** Divides cores and caches equally between the packages, because systeminformation describes all packages together. */
export const toPortableProcessors = (cpu: Cpu, shares: CpuShares): ProcessorReading[] => {
  const packages = Math.max(1, cpu.processors);
  const logical = cpu.cores / packages;
  return Array.from({ length: packages }, (_, index) => ({
    id: `CPU${index}`,
    name: `${cpu.manufacturer} ${cpu.brand}`.trim() || null,
    manufacturer: cpu.manufacturer || null,
    maxMHz: toMHz(cpu.speedMax),
    currentMHz: toMHz(cpu.speed),
    cores: Math.round(cpu.physicalCores / packages) || null,
    logicalProcessors: Math.round(logical),
    loadPercent: toLoad(shares, index * logical, (index + 1) * logical),
    l2CacheKB: toPart(cpu.cache.l2, packages),
    l3CacheKB: toPart(cpu.cache.l3, packages),
  }));
};

/** Converts GHz to MHz. 0 means unknown. */
const toMHz = (gigahertz: number): number | null => Math.round(gigahertz * 1000) || null;

/** Converts bytes to KiB per package. 0 means unknown. */
const toPart = (bytes: number, packages: number): number | null => Math.round(bytes / packages / 1024) || null;

/** Returns the mean load of a range of logical processors, in percent. */
const toLoad = (shares: CpuShares, from: number, to: number): number => {
  const all = Array.from(shares).filter(([name]) => name !== 'cpu');
  const range = all.slice(Math.round(from), Math.round(to)).map(([, share]) => share);
  return (100 * range.reduce((sum, share) => sum + share, 0)) / Math.max(1, range.length);
};

/** Process as systeminformation reports it. On some systems, values are missing although its types promise them. */
interface Listed
  extends Pick<Systeminformation.ProcessesProcessData, 'pid' | 'parentPid' | 'name' | 'memRss' | 'priority'> {
  memVsz: number | null;
  started: string | null;
  path?: string | null;
}

/** Converts a process. Sizes are in KiB. CPU time, threads and sessions are not reported. */
export const toProcessReading = (listed: Listed): ProcessReading => ({
  pid: listed.pid,
  parentPid: listed.parentPid,
  name: listed.name,
  userSeconds: null,
  kernelSeconds: null,
  workingSetBytes: listed.memRss * 1024,
  virtualBytes: listed.memVsz === null ? null : listed.memVsz * 1024,
  threads: null,
  sessionId: null,
  priority: listed.priority,
  startedAt: parseLocalTime(listed.started),
});

/** Converts details. `path` is the folder of the program on some systems, and the program itself on Windows. */
export const toProcessDetails = ({ name, path }: Pick<Listed, 'name' | 'path'>): ProcessDetails => {
  const isWhole = path && basename(path).toLowerCase() === name.toLowerCase();
  return {
    executablePath: path ? (isWhole ? path : join(path, name)) : null,
    handles: null,
    privateBytes: null,
    pagedBytes: null,
  };
};

/** Parses `yyyy-MM-dd HH:mm:ss` in the time zone of the machine. Null for any other text. */
export const parseLocalTime = (text: string | null): Date | null => {
  const date = new Date((text ?? '').replace(' ', 'T'));
  return Number.isNaN(date.getTime()) ? null : date;
};

type Size = Pick<Systeminformation.FsSizeData, 'fs' | 'type' | 'size' | 'used' | 'available' | 'mount'> &
  Partial<Pick<Systeminformation.FsSizeData, 'rw'>>;
type Device = Pick<Systeminformation.BlockDevicesData, 'name' | 'type' | 'mount' | 'physical' | 'removable' | 'label'>;

/** Kinds by systeminformation's name for a drive (Windows) or a block device. */
const kindOfDrive: Record<string, FileSystemKind> = {
  Removable: 'removable',
  Network: 'network',
  'CD/DVD': 'optical',
  RAM: 'memory',
};

/** Joins sizes with their devices. Both lists must be read at the same time. */
export const toFileSystemReadings = (sizes: readonly Size[], devices: readonly Device[]): FileSystemReading[] =>
  sizes
    .filter(({ size }) => size > 0)
    .map((size) => {
      const device = findDevice(size, devices);
      return {
        mountPath: size.mount,
        device: size.fs,
        type: size.type,
        kind: device ? toKindOfDevice(device) : toKindOfSource(size),
        label: device?.label || null,
        totalBytes: size.size,
        usedBytes: size.used,
        availableBytes: size.available,
        ...(size.rw === false && { isReadOnly: true }),
      };
    });

/** Returns the root file system and the fixed devices, each device once at its shortest mount path. */
export const toPortableDisks = (
  readings: readonly FileSystemReading[],
  devices: readonly Device[],
): FileSystemReading[] => {
  const loops = new Set(devices.filter(({ type }) => type === 'loop').map(({ name }) => `/dev/${name}`));
  const listed = readings.filter(
    ({ kind, device, mountPath }) =>
      mountPath === '/' || (kind === 'fixed' && isLocalDevice(device) && !loops.has(device)),
  );
  const byLength = listed.toSorted((a, b) => a.mountPath.length - b.mountPath.length);
  return byLength.filter(({ device }, index) => byLength.findIndex((other) => other.device === device) === index);
};

const findDevice = ({ fs, mount }: Size, devices: readonly Device[]): Device | undefined =>
  devices.find(({ name }) => name === fs || `/dev/${name}` === fs) ??
  devices.find((device) => device.mount !== '' && device.mount === mount);

const toKindOfDevice = ({ physical, removable }: Device): FileSystemKind =>
  kindOfDrive[physical] ?? (removable ? 'removable' : 'fixed');

/**
 * Returns the kind of a source that is not a block device. `//server/share` and `server:/path` are on a network. Other
 * sources are in memory.
 */
const toKindOfSource = ({ fs, mount }: Size): FileSystemKind => {
  if (isLocalDevice(fs) || mount === '/') return 'fixed';
  return fs.startsWith('//') || fs.includes(':') ? 'network' : 'memory';
};

/** True for a device file or a drive letter. */
const isLocalDevice = (device: string): boolean => device.startsWith('/dev/') || /^[A-Z]:$/i.test(device);

/** Reads `HostReadings.counters` without starting a program. Swap and network are unknown. */
export const readPortableCounters = (): CountersReading => ({
  cpuSeconds: toCpuSeconds(cpus()),
  bootedAt: readBootTime(),
  load: loadavg()[0] ?? 0,
  memory: { total: totalmem(), available: freemem(), swapTotal: 0, swapFree: 0 },
  network: null,
});

const readBootTime = (): Date => new Date(Date.now() - uptime() * 1000);

/** Returns CPU times by Linux's names for the modes. */
export const toCpuSeconds = (processors: readonly Pick<CpuInfo, 'times'>[]): CpuSeconds => {
  const all: Record<string, number> = {};
  const each = processors.map(({ times: { user, nice, sys, idle, irq } }, index) => {
    const seconds = Object.entries({ user, nice, system: sys, idle, irq }).map(
      ([mode, milliseconds]) => [mode, milliseconds / 1000] as const,
    );
    for (const [mode, value] of seconds) all[mode] = (all[mode] ?? 0) + value;
    return [`cpu${index}`, Object.fromEntries(seconds)] as const;
  });
  return new Map([['cpu', all], ...each]);
};
