/**
 * Readings of the server's machine. They come from /proc and /sys on Linux, and from systeminformation elsewhere. A
 * value is null, never 0, if the system does not report it or this account may not read it. A failed reading rejects.
 */
export interface HostReadings {
  /** Returns the host name. Unlike `system`, does not access any files. */
  hostname(): string;
  /** Name, operating system and hardware. */
  system(): Promise<SystemReading>;
  /** Seconds since the machine started. */
  uptimeSeconds(): number;
  memory(): Promise<MemoryReading>;
  /**
   * Reads the counters once a second and calls the listener with each sample, until the returned function is called.
   * All listeners get the same samples. A listener added later immediately gets the last sample.
   */
  listen(listener: (sample: HostSample) => void): () => void;
  /**
   * Returns the usage (0 … 1) of all cores over the last second, computed from the same samples as `listen`. Without
   * samples, the first call takes 200 ms. Sampling then continues for a minute.
   */
  cpuBusy(): Promise<number>;
  /** Returns one entry per processor package (socket). */
  processors(): Promise<ProcessorReading[]>;
  /**
   * Returns the counters of the last sample, or current counters while sampling is off. Unreadable values are missing.
   */
  counters(): CountersReading;
  /** Lists every process, in no particular order. The reading is at most 500 ms old and shared between callers. */
  processes(): Promise<readonly ProcessReading[]>;
  /** Estimates the CPU time that reading all processes takes, in milliseconds. 0 if unknown. */
  processReadingMs(): Promise<number>;
  /** Counts the processes without reading each one. */
  processCount(): Promise<number>;
  /** Reads details that require extra reads for each process. Processes that have ended have no entry. */
  processDetails(pids: readonly number[]): Promise<Map<number, ProcessDetails>>;
  /**
   * Names the user who runs each process, or the id of the user if /etc/passwd has no name for it. A process whose user
   * is unknown has no entry.
   */
  processOwners(processes: readonly ProcessReading[]): Promise<Map<number, string>>;
  /** Lists mounted file systems that have a size, except those whose server does not respond. */
  fileSystems(): Promise<FileSystemReading[]>;
  /** Lists the root file system and fixed local disks, each device once. /api/disks lists the same disks. */
  fixedDisks(): Promise<FileSystemReading[]>;
  /** Lists fixed local disks. They are read at most once a minute for all callers. */
  disksOfMinute(): Promise<FileSystemReading[]>;
  /**
   * Returns the bytes transferred by disks and their partitions, by `deviceNumber`. Empty on systems other than Linux.
   */
  diskTraffic(): ReadonlyMap<string, DiskTraffic>;
  /** Lists the sensors that report a temperature. Empty on systems other than Linux. */
  temperatures(): TemperatureReading[];
  /**
   * Returns the percentage of the last minute during which a task waited for the resource. Null if the kernel does not
   * report it.
   */
  pressure(resource: Pressure): number | null;
  /** Lists the units that systemd has loaded. Null without systemd. Starts a program. */
  units(): Promise<UnitReading[] | null>;
  /**
   * Lists the last entries of the system's journal, oldest first. Null without systemd. Starts a program. Rejects if
   * this account may not read the journal.
   */
  journalEntries(count: number): Promise<JournalReading[] | null>;
  /** Stops the sampling timer. */
  close(): void;
}

/** Resources for which tasks can wait. */
export const pressures = ['cpu', 'memory', 'io'] as const;
export type Pressure = (typeof pressures)[number];

export interface TemperatureReading {
  /** Chip and label, e.g. `coretemp Core 0`. */
  sensor: string;
  celsius: number;
}

export interface UnitReading {
  /** Name including the type: `nginx.service`. */
  name: string;
  isLoaded: boolean;
  /** State in systemd's terms: `active`, `inactive`, `failed`, `activating`, … */
  active: string;
  sub: string;
}

export interface JournalReading {
  at: Date;
  /** Program that wrote the entry, according to the program itself. */
  source: string;
  /** Way by which the entry reached the journal: `kernel`, `syslog`, `stdout`, `audit`, … */
  transport: string;
  /** Syslog priority, from 0 for emergencies to 7 for debugging. */
  priority: number | null;
  /** Text. Empty if it is very long. */
  text: string;
}

/** Bytes transferred since the machine started. */
export interface DiskTraffic {
  read: number;
  written: number;
}

export interface SystemReading {
  hostname: string;
  /** DNS domain of the host. Null if unknown. */
  domain: string | null;
  /** Display name, e.g. `Debian GNU/Linux 12 (bookworm)`. */
  osName: string | null;
  /** Kernel or system release, e.g. `6.1.0-18-amd64`. */
  osVersion: string | null;
  /** Kernel build, e.g. `#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1`. */
  osBuild: string | null;
  /** Architecture as Node names it: `x64`, `arm64`, … */
  architecture: string;
  manufacturer: string | null;
  model: string | null;
  hypervisorPresent: boolean | null;
  bootedAt: Date;
  /** Number of sessions of logged-in users. */
  userCount: number | null;
}

/** Memory sizes in bytes. */
export interface MemoryReading {
  total: number;
  /** Memory that programs can still allocate without swapping (Linux: MemAvailable). */
  available: number;
  swapTotal: number;
  swapFree: number;
}

/**
 * CPU time in seconds by CPU and mode. CPUs are `cpu` for the sum, then `cpu0`, `cpu1`, … Modes are
 * named as in Linux: `user`, `nice`, `system`, `idle`, …
 */
export type CpuSeconds = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** Totals since the machine started, and current memory usage. */
export interface CountersReading {
  cpuSeconds: CpuSeconds;
  /** Time at which the machine started. */
  bootedAt?: Date;
  /** Number of runnable processes, averaged over the last minute. 0 on Windows. */
  load: number;
  memory: MemoryReading | null;
  /**
   * Bytes transferred by all real network interfaces or, if there are none, as in a container, by all interfaces except
   * loopback.
   */
  network: { received: number; sent: number } | null;
}

/** Usage of the machine between two readings of its counters. NaN stands for unknown. */
export interface Usage {
  /** Usage of all CPUs, from 0 to 1. */
  cpu: number;
  /** Used memory in bytes. */
  memoryUsed: number;
  memoryTotal: number;
  swapUsed: number;
  /** Number of runnable processes, averaged over a minute. */
  load: number;
  /** Bytes per second. */
  networkReceived: number;
  networkSent: number;
}

/** Counters at one time, and the usage since the previous sample. */
export interface HostSample {
  /** Milliseconds on the clock of `performance.now`. */
  at: number;
  counters: CountersReading;
  /** Usage since the previous sample. In the first sample, values that need two samples are NaN. */
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
  /** Load from 0 to 100 over the last second. See `cpuBusy`. */
  loadPercent: number | null;
  l2CacheKB: number | null;
  l3CacheKB: number | null;
}

export interface ProcessReading {
  pid: number;
  parentPid: number;
  /**
   * Name that the kernel uses. If Linux has cut it to 15 bytes, the base name of argv[0], unless that cannot be read in
   * time.
   */
  name: string;
  /** CPU time used so far. Null on systems other than Linux. */
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
  /** Memory that has been paged out. On Linux this is VmSwap, as in .NET. */
  pagedBytes: number | null;
}

export type FileSystemKind = 'fixed' | 'network' | 'removable' | 'optical' | 'memory';

export interface FileSystemReading {
  /** Mount path. On Windows, the drive letter, e.g. `C:`. */
  mountPath: string;
  /** Further mount paths, such as those of volumes in containers. Absent if there are none. */
  otherPaths?: string[];
  device: string;
  type: string;
  kind: FileSystemKind;
  label: string | null;
  totalBytes: number;
  usedBytes: number;
  /** Space available to ordinary users. */
  availableBytes: number;
  /** True if nothing can be written at any mount path. */
  isReadOnly?: boolean;
  /** `major:minor` of the underlying fixed local disk. */
  deviceNumber?: string | null;
  /** Number of files that can exist, and number that can still be created. Null if the system does not report them. */
  inodes?: { total: number; free: number } | null;
}

/** False for an image, such as the root of an appliance. An image is full by design. */
export const isWritable = ({ isReadOnly = false }: Pick<FileSystemReading, 'isReadOnly'>): boolean => !isReadOnly;
