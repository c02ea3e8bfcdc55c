/**
 * Readings of the server's machine: from /proc and /sys on Linux, through systeminformation elsewhere. A value that the
 * system does not report, or that this account may not read, is null, never 0. A failed reading rejects.
 */
export interface HostReadings {
  /** Returns the host name. Accesses no files, unlike `system`. */
  hostname(): string;
  /** Name, operating system and hardware. */
  system(): Promise<SystemReading>;
  /** Seconds since the machine started. */
  uptimeSeconds(): number;
  memory(): Promise<MemoryReading>;
  /**
   * Reads the counters once a second and calls the listener with each sample, until the returned function is called.
   * All listeners get the same samples. A later listener immediately gets the last sample.
   */
  listen(listener: (sample: HostSample) => void): () => void;
  /**
   * Busy share (0 … 1) of all cores over the last second, computed from the same samples as `listen`. Without samples,
   * the first call takes 200 ms, and sampling continues for a minute.
   */
  cpuBusy(): Promise<number>;
  /** One entry for each processor package (socket). */
  processors(): Promise<ProcessorReading[]>;
  /** Counters of the last sample, or current counters while sampling is off. Unreadable values are missing. */
  counters(): CountersReading;
  /** Every process, in no particular order. The reading is at most 500 ms old and shared between callers. */
  processes(): Promise<readonly ProcessReading[]>;
  /** Approximate processor time in milliseconds for reading all processes; 0 if unknown. */
  processReadingMs(): Promise<number>;
  /** Number of processes, without reading each one. */
  processCount(): Promise<number>;
  /** Details that require extra reads for each process. Processes that have ended have no entry in the map. */
  processDetails(pids: readonly number[]): Promise<Map<number, ProcessDetails>>;
  /**
   * Name of the user running each process, or the user's id if /etc/passwd has no name for it. A process whose user is
   * unknown has no entry.
   */
  processOwners(processes: readonly ProcessReading[]): Promise<Map<number, string>>;
  /** Mounted file systems that have a size; file systems whose server does not respond are missing. */
  fileSystems(): Promise<FileSystemReading[]>;
  /** Fixed local disks, each device once, and the root file system: the disks listed by /api/disks. */
  fixedDisks(): Promise<FileSystemReading[]>;
  /** Fixed local disks, read at most once a minute for all callers. */
  disksOfMinute(): Promise<FileSystemReading[]>;
  /** Bytes transferred by disks and their partitions, by `deviceNumber`. Empty on systems other than Linux. */
  diskTraffic(): ReadonlyMap<string, DiskTraffic>;
  /** Sensors that report a temperature. Empty on systems other than Linux. */
  temperatures(): TemperatureReading[];
  /**
   * Percentage of the last minute during which a task waited for the resource; null if the kernel does not report it.
   */
  pressure(resource: Pressure): number | null;
  /** Units loaded by systemd; null without systemd. Starts a program. */
  units(): Promise<UnitReading[] | null>;
  /**
   * Last entries of the system's journal, oldest first; null without systemd. Starts a program. Rejects if this account
   * may not read the journal.
   */
  journalEntries(count: number): Promise<JournalReading[] | null>;
  /** Stops the sampling timer. */
  close(): void;
}

/** Resources that tasks can wait for. */
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
  /** Program that wrote the entry, as stated by the program. */
  source: string;
  /** Transport into the journal: `kernel`, `syslog`, `stdout`, `audit`, … */
  transport: string;
  /** Syslog priority: 0 for emergencies to 7 for debugging. */
  priority: number | null;
  /** Empty if the text is very long. */
  text: string;
}

/** Bytes transferred since the machine started. */
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
  /** Node's name: `x64`, `arm64`, … */
  architecture: string;
  manufacturer: string | null;
  model: string | null;
  hypervisorPresent: boolean | null;
  bootedAt: Date;
  /** Sessions of currently logged-in users. */
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
 * Processor time in seconds by processor and mode. Processors: `cpu` for the sum, then `cpu0`, `cpu1`, …; modes as in
 * Linux: `user`, `nice`, `system`, `idle`, …
 */
export type CpuSeconds = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** Totals since the machine started, and current memory usage. */
export interface CountersReading {
  cpuSeconds: CpuSeconds;
  /** Time the machine started. */
  bootedAt?: Date;
  /** Runnable processes, averaged over the last minute. 0 on Windows. */
  load: number;
  memory: MemoryReading | null;
  /**
   * Bytes over all real network interfaces or, if there are none, as in a container, over all interfaces except
   * loopback.
   */
  network: { received: number; sent: number } | null;
}

/** Usage of the machine between two readings of its counters; NaN stands for unknown. */
export interface Usage {
  /** Busy share of all processors, 0 to 1. */
  cpu: number;
  /** Used memory in bytes. */
  memoryUsed: number;
  memoryTotal: number;
  swapUsed: number;
  /** Runnable processes, averaged over a minute. */
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
  /** In the first sample, values that need two samples are NaN. */
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
  /**
   * The kernel's name. If Linux truncated the name to 15 bytes, the base name of argv[0], unless it cannot be read in
   * time.
   */
  name: string;
  /** Processor time used so far; null on systems other than Linux. */
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
  /** Paged-out memory; VmSwap on Linux, as in .NET. */
  pagedBytes: number | null;
}

export type FileSystemKind = 'fixed' | 'network' | 'removable' | 'optical' | 'memory';

export interface FileSystemReading {
  /** Mount path; on Windows the drive letter, e.g. `C:`. */
  mountPath: string;
  /** Further mount paths, such as the mount paths of containers' volumes; absent if there are none. */
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
  /** Number of files that can exist, and number that can still be created; null if the system does not report it. */
  inodes?: { total: number; free: number } | null;
}

/** False for an image, such as the root of an appliance, which is full by design. */
export const isWritable = ({ isReadOnly = false }: Pick<FileSystemReading, 'isReadOnly'>): boolean => !isReadOnly;
