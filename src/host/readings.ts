/**
 * Readings of the machine the server runs on: from /proc and /sys on Linux, through systeminformation elsewhere. A value
 * that the system does not report, or that this account may not read, is null, never 0. A reading that fails rejects.
 */
export interface HostReadings {
  /** Costs no file access, unlike `system`. */
  hostname(): string;
  /** Name, operating system and hardware. */
  system(): Promise<SystemReading>;
  /** Seconds since the machine was started. */
  uptimeSeconds(): number;
  memory(): Promise<MemoryReading>;
  /**
   * Reads the counters once a second and calls the listener with each sample, until the function that it returns is called.
   * All listeners get the same samples; one that comes later gets the last one at once.
   */
  listen(listener: (sample: HostSample) => void): () => void;
  /**
   * Busy share (0 … 1) of all cores over the last second, from the same samples; if there are none yet, the first call takes
   * 200 ms, and sampling goes on for a minute.
   */
  cpuBusy(): Promise<number>;
  /** One entry for each processor package (socket). */
  processors(): Promise<ProcessorReading[]>;
  /** The counters of the last sample, or read now while nothing is sampled. Values that cannot be read are missing. */
  counters(): CountersReading;
  /** Every process, in no particular order. The reading is at most 500 ms old and shared by its callers. */
  processes(): Promise<readonly ProcessReading[]>;
  /** About the milliseconds of processor time that a reading of all processes takes at present; 0 where that is not known. */
  processReadingMs(): Promise<number>;
  /** How many processes there are, without reading each. */
  processCount(): Promise<number>;
  /** Details that cost extra reads for each process; a process that has ended has no entry in the map. */
  processDetails(pids: readonly number[]): Promise<Map<number, ProcessDetails>>;
  /**
   * The name of the user that runs each process, or the user's id if it has no name in /etc/passwd; a process whose user
   * is unknown has no entry.
   */
  processOwners(processes: readonly ProcessReading[]): Promise<Map<number, string>>;
  /** Every mounted file system that has a size; one whose server does not answer is missing. */
  fileSystems(): Promise<FileSystemReading[]>;
  /** Fixed local disks, each device once, plus the root file system: what /api/disks lists. */
  fixedDisks(): Promise<FileSystemReading[]>;
  /** The same, read at most once a minute for all who ask. */
  disksOfMinute(): Promise<FileSystemReading[]>;
  /** What disks and their partitions have transferred, by `deviceNumber`; empty off Linux. */
  diskTraffic(): ReadonlyMap<string, DiskTraffic>;
  /** Sensors that report a temperature; none off Linux. */
  temperatures(): TemperatureReading[];
  /** Percent of the last minute in which a task waited for the resource; null where the kernel does not say. */
  pressure(resource: Pressure): number | null;
  /** Units that systemd has loaded; null where it does not run. Starts a program. */
  units(): Promise<UnitReading[] | null>;
  /**
   * The last entries of the system's journal, oldest first; null where systemd does not run. Starts a program. Rejects where
   * this account may not read them.
   */
  journalEntries(count: number): Promise<JournalReading[] | null>;
  /** Stops the sampling timer. */
  close(): void;
}

/** What tasks can wait for. */
export const pressures = ['cpu', 'memory', 'io'] as const;
export type Pressure = (typeof pressures)[number];

export interface TemperatureReading {
  /** Chip and label, e.g. `coretemp Core 0`. */
  sensor: string;
  celsius: number;
}

export interface UnitReading {
  /** With its type: `nginx.service`. */
  name: string;
  isLoaded: boolean;
  /** As systemd says: `active`, `inactive`, `failed`, `activating`, … */
  active: string;
  sub: string;
}

export interface JournalReading {
  at: Date;
  /** Which program wrote it, as the entry says. */
  source: string;
  /** How it came into the journal: `kernel`, `syslog`, `stdout`, `audit`, … */
  transport: string;
  /** Of syslog: 0 for emergencies to 7 for debugging. */
  priority: number | null;
  /** Empty where it is very long. */
  text: string;
}

/** Bytes since the machine was started. */
export interface DiskTraffic {
  read: number;
  written: number;
}

export interface SystemReading {
  hostname: string;
  /** DNS domain of the host, or null. */
  domain: string | null;
  /** Display name, e.g. `Debian GNU/Linux 12 (bookworm)`. */
  osName: string | null;
  /** Kernel or system release, e.g. `6.1.0-18-amd64`. */
  osVersion: string | null;
  /** Kernel build, e.g. `#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1`. */
  osBuild: string | null;
  /** As Node names it: `x64`, `arm64`, … */
  architecture: string;
  manufacturer: string | null;
  model: string | null;
  hypervisorPresent: boolean | null;
  bootedAt: Date;
  /** Sessions of users that are logged in now. */
  userCount: number | null;
}

/** All sizes in bytes. */
export interface MemoryReading {
  total: number;
  /** Memory that programs can still allocate without swapping (Linux: MemAvailable). */
  available: number;
  swapTotal: number;
  swapFree: number;
}

/**
 * Processor time in seconds by processor, `cpu` for all of them together, `cpu0`, `cpu1`, … for each, and by mode, as Linux names
 * them: `user`, `nice`, `system`, `idle`, …
 */
export type CpuSeconds = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** Totals since the machine was started, and the state of its memory. */
export interface CountersReading {
  cpuSeconds: CpuSeconds;
  /** When the machine was started. */
  bootedAt?: Date;
  /** Runnable processes, mean of the last minute; 0 on Windows. */
  load: number;
  memory: MemoryReading | null;
  /** Bytes over all real network interfaces; where there are none, as in a container, over all except loopback. */
  network: { received: number; sent: number } | null;
}

/** How the machine was used between two readings of its counters; NaN stands for unknown. */
export interface Usage {
  /** Busy share of all processors, 0 to 1. */
  cpu: number;
  /** Bytes. */
  memoryUsed: number;
  memoryTotal: number;
  swapUsed: number;
  /** Runnable processes, mean of a minute. */
  load: number;
  /** Bytes per second. */
  networkReceived: number;
  networkSent: number;
}

/** The counters at one time, and how the machine was used since the sample before. */
export interface HostSample {
  /** Milliseconds, as `performance.now` has them. */
  at: number;
  counters: CountersReading;
  /** What needs two samples is NaN in the first one. */
  usage: Usage;
}

export interface ProcessorReading {
  /** `CPU0`, `CPU1`, … */
  id: string;
  name: string | null;
  manufacturer: string | null;
  maxMHz: number | null;
  currentMHz: number | null;
  cores: number | null;
  logicalProcessors: number;
  /** 0 … 100, over the last second; see `cpuBusy`. */
  loadPercent: number | null;
  l2CacheKB: number | null;
  l3CacheKB: number | null;
}

export interface ProcessReading {
  pid: number;
  parentPid: number;
  /** The kernel's name; if Linux cut it at 15 bytes, the base name of argv[0], unless that cannot be read in time. */
  name: string;
  /** Processor time used so far; null off Linux. */
  userSeconds: number | null;
  kernelSeconds: number | null;
  workingSetBytes: number;
  virtualBytes: number | null;
  threads: number | null;
  sessionId: number | null;
  priority: number | null;
  startedAt: Date | null;
}

export interface ProcessDetails {
  executablePath: string | null;
  /** Open file descriptors (Windows: handles). */
  handles: number | null;
  /** VmData on Linux, as in .NET. */
  privateBytes: number | null;
  /** Memory that is paged out; VmSwap on Linux, as in .NET. */
  pagedBytes: number | null;
}

export type FileSystemKind = 'fixed' | 'network' | 'removable' | 'optical' | 'memory';

export interface FileSystemReading {
  /** Mount path; on Windows the drive letter, e.g. `C:`. */
  mountPath: string;
  /** Where else it is mounted, as volumes of containers are; left out if nowhere. */
  otherPaths?: string[];
  device: string;
  type: string;
  kind: FileSystemKind;
  label: string | null;
  totalBytes: number;
  usedBytes: number;
  /** Space that ordinary users can still fill. */
  availableBytes: number;
  /** True if nothing can be written at any of its mount paths. */
  isReadOnly?: boolean;
  /** `major:minor` of the fixed local disk that it is on. */
  deviceNumber?: string | null;
  /** Files that can exist, and of those how many more; null where the system does not say. */
  inodes?: { total: number; free: number } | null;
}

/** False for an image, such as the root of an appliance, which is full by design. */
export const isWritable = ({ isReadOnly = false }: Pick<FileSystemReading, 'isReadOnly'>): boolean => !isReadOnly;
