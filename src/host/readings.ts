/**
 * What signalbox can learn about the machine it runs on. One implementation reads Linux's /proc and /sys
 * directly, the other goes through systeminformation for every other system; both keep this contract.
 * A value that the system does not offer, or that this account may not read, is `null`, never 0.
 */
export interface HostReadings {
  /** Costs no file access, unlike `system`. */
  hostname(): string;
  /** Name, operating system and hardware; fixed while the process runs, except where a field says so. */
  system(): Promise<SystemReading>;
  /** Seconds since the machine was started. */
  uptimeSeconds(): number;
  memory(): Promise<MemoryReading>;
  /** Busy share (0 … 1) of all cores over the last complete sampling interval. */
  cpuBusy(): Promise<number>;
  /** One entry for each processor package (socket). */
  processors(): Promise<ProcessorReading[]>;
  /** Every process, in no particular order. The reading is at most 500 ms old and shared by its callers. */
  processes(): Promise<readonly ProcessReading[]>;
  /** What costs one or more extra reads for each process; a process that is gone has no entry in the map. */
  processDetails(pids: readonly number[]): Promise<Map<number, ProcessDetails>>;
  /** Every mounted file system that has a size, whatever it is on. */
  fileSystems(): Promise<FileSystemReading[]>;
  /** Fixed local disks, each device once, plus the root file system: what /api/disks lists. */
  fixedDisks(): Promise<FileSystemReading[]>;
  /** Ends the sampling timer. */
  close(): void;
}

export interface SystemReading {
  hostname: string;
  /** DNS domain of the host, or null. */
  domain: string | null;
  /** For people, e.g. `Debian GNU/Linux 12 (bookworm)`. */
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
  /** What programs could still get without swapping (Linux: MemAvailable). */
  available: number;
  swapTotal: number;
  swapFree: number;
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
  /** 0 … 100, over the last complete sampling interval. */
  loadPercent: number | null;
  l2CacheKB: number | null;
  l3CacheKB: number | null;
}

export interface ProcessReading {
  pid: number;
  parentPid: number;
  /** The kernel's name for it; where Linux cuts that at 15 bytes, the base name of argv[0]. */
  name: string;
  /** Processor time used so far; null off Linux, where systeminformation tells only percentages. */
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
  /** As .NET has it on Linux: VmData. */
  privateBytes: number | null;
  /** Memory of the process that is paged out; on Linux VmSwap, as in .NET. */
  pagedBytes: number | null;
}

export type FileSystemKind = 'fixed' | 'network' | 'removable' | 'optical' | 'memory';

export interface FileSystemReading {
  /** Mount path; on Windows the drive letter, e.g. `C:`. */
  mountPath: string;
  device: string;
  type: string;
  kind: FileSystemKind;
  label: string | null;
  totalBytes: number;
  usedBytes: number;
  /** What an ordinary user can still write. */
  availableBytes: number;
}
