import type { FileSystemKind, HostReadings } from '../../../host/readings.ts';
import type { CimClassName, CimInstance } from '../cim-classes.ts';
import { createRowFilter } from '../filter.ts';
import { type CommandParameters, chooseProperties } from '../policy.ts';
import type { OutputRow } from '../runner.ts';
import { toServiceInstance, type Unit } from './get-service.ts';

interface CimSources {
  host: HostReadings;
  clock: () => Date;
  readUnits: () => Promise<Unit[]>;
}

/** Get-CimInstance. Returns the instances that match the filter, with the chosen properties in class order. */
export const getCimInstance = async (
  sources: CimSources,
  parameters: CommandParameters<'Get-CimInstance'>,
): Promise<OutputRow[]> => {
  const instances: OutputRow[] = await cimReaders[parameters.ClassName](sources);
  const properties = chooseProperties(parameters);
  return instances
    .filter(createRowFilter(parameters.Filter ?? []))
    .map((instance) => Object.fromEntries(properties.map((name) => [name, instance[name]])));
};

/** Functions that read all instances of each class, with all properties. */
export const cimReaders: { [C in CimClassName]: (sources: CimSources) => Promise<CimInstance<C>[]> } = {
  /**
   * Sizes are in KB of 1,024 bytes. FreePhysicalMemory and FreeVirtualMemory are the amounts that programs can still
   * allocate.
   */
  Win32_OperatingSystem: async ({ host, clock }) => {
    const [system, memory, processCount] = await Promise.all([host.system(), host.memory(), host.processCount()]);
    const now = clock();
    return [
      {
        Caption: system.osName,
        Version: system.osVersion,
        BuildNumber: system.osBuild,
        OSArchitecture: `${toArchitecture(system.architecture).addressWidth}-bit`,
        CSName: system.hostname,
        Status: 'OK',
        LastBootUpTime: system.bootedAt.toISOString(),
        LocalDateTime: now.toISOString(),
        TotalVisibleMemorySize: toKB(memory.total),
        FreePhysicalMemory: toKB(memory.available),
        TotalVirtualMemorySize: toKB(memory.total + memory.swapTotal),
        FreeVirtualMemory: toKB(memory.available + memory.swapFree),
        NumberOfProcesses: processCount,
        NumberOfUsers: system.userCount,
        OSType: osTypeOf(process.platform),
        CurrentTimeZone: 0 - now.getTimezoneOffset(),
      },
    ];
  },

  /** Memory is in bytes. NumberOfProcessors counts packages. */
  Win32_ComputerSystem: async ({ host }) => {
    const [system, memory, processors] = await Promise.all([host.system(), host.memory(), host.processors()]);
    return [
      {
        Name: system.hostname,
        DNSHostName: system.hostname,
        Domain: system.domain,
        Manufacturer: system.manufacturer,
        Model: system.model,
        SystemType: toArchitecture(system.architecture).systemType,
        TotalPhysicalMemory: memory.total,
        NumberOfProcessors: processors.length,
        NumberOfLogicalProcessors: processors.reduce((sum, each) => sum + each.logicalProcessors, 0),
        HypervisorPresent: system.hypervisorPresent,
      },
    ];
  },

  /** Each processor package is an instance. Clock speeds are in MHz, caches in KB. */
  Win32_Processor: async ({ host }) => {
    const [system, processors] = await Promise.all([host.system(), host.processors()]);
    const { addressWidth, number } = toArchitecture(system.architecture);
    return processors.map((processor) => ({
      DeviceID: processor.id,
      Name: processor.name,
      Manufacturer: processor.manufacturer,
      MaxClockSpeed: processor.maxMHz,
      CurrentClockSpeed: processor.currentMHz,
      NumberOfCores: processor.cores,
      NumberOfLogicalProcessors: processor.logicalProcessors,
      LoadPercentage: processor.loadPercent === null ? null : Math.round(processor.loadPercent),
      L2CacheSize: processor.l2CacheKB,
      L3CacheSize: processor.l3CacheKB,
      AddressWidth: addressWidth,
      Architecture: number,
    }));
  },

  /**
   * Each mounted file system with a size is an instance. Sizes are in bytes. FreeSpace is available to ordinary users.
   */
  Win32_LogicalDisk: async ({ host }) =>
    (await host.fileSystems()).map((fileSystem) => ({
      DeviceID: fileSystem.mountPath,
      DriveType: driveTypes[fileSystem.kind],
      FileSystem: fileSystem.type,
      VolumeName: fileSystem.label,
      FreeSpace: fileSystem.availableBytes,
      Size: fileSystem.totalBytes,
    })),

  /** Sizes are in bytes. Times are in units of 100 ns. */
  Win32_Process: async ({ host }) => {
    const processes = await host.processes();
    const details = await host.processDetails(processes.map(({ pid }) => pid));
    return processes.map((process) => ({
      ProcessId: process.pid,
      ParentProcessId: process.parentPid,
      SessionId: process.sessionId,
      HandleCount: details.get(process.pid)?.handles ?? null,
      ThreadCount: process.threads,
      Priority: process.priority,
      Name: process.name,
      ExecutablePath: details.get(process.pid)?.executablePath ?? null,
      CreationDate: process.startedAt?.toISOString() ?? null,
      WorkingSetSize: process.workingSetBytes,
      VirtualSize: process.virtualBytes,
      KernelModeTime: toTicks(process.kernelSeconds),
      UserModeTime: toTicks(process.userSeconds),
    }));
  },

  Win32_Service: async ({ readUnits }) => (await readUnits()).map(toServiceInstance),
};

const toKB = (bytes: number): number => Math.floor(bytes / 1024);

const toTicks = (seconds: number | null): number | null => seconds && Math.round(seconds * 1e7);

/** Win32_LogicalDisk.DriveType values. */
const driveTypes: Record<FileSystemKind, number> = { removable: 2, fixed: 3, network: 4, optical: 5, memory: 6 };

const osTypes: Partial<Record<NodeJS.Platform, number>> = { darwin: 2, win32: 18, linux: 36, freebsd: 42 };

/** Returns the value of CIM_OperatingSystem.OSType. Null if the system has none. */
export const osTypeOf = (platform: NodeJS.Platform): number | null => osTypes[platform] ?? null;

const architectures: Record<string, [addressWidth: 32 | 64, number: number | null, systemType?: string]> = {
  ia32: [32, 0, 'X86-based PC'],
  x64: [64, 9, 'x64-based PC'],
  arm: [32, 5, 'ARM-based PC'],
  arm64: [64, 12, 'ARM64-based PC'],
  mips: [32, 1],
  mipsel: [32, null],
  ppc: [32, 3],
  ppc64: [64, 3],
};

/**
 * Returns the address bits, Win32_Processor.Architecture and Win32_ComputerSystem.SystemType for an architecture, given
 * by its name in Node. An architecture unknown to Windows has no number and keeps its name.
 */
export const toArchitecture = (name: string) => {
  const [addressWidth, number, systemType = name] = architectures[name] ?? [64, null];
  return { addressWidth, number, systemType };
};
