import type { FileSystemKind, HostReadings } from '../../../../host/readings.ts';
import type { Row } from '../../execution/runner.ts';
import { createFilter } from '../../language/filter.ts';
import { type CimClassName, type CimInstance, chooseProperties } from '../../policy/cim-classes.ts';
import type { CommandParameters } from '../../policy/policy.ts';
import { toServiceInstance, type Unit } from './get-service.ts';

interface CimSources {
  host: HostReadings;
  clock: () => Date;
  readUnits: () => Promise<Unit[]>;
}

const readers: { [C in CimClassName]: (sources: CimSources) => Promise<CimInstance<C>[]> } = {
  Win32_OperatingSystem: ({ host, clock }) => readOperatingSystem(host, clock()),
  Win32_ComputerSystem: ({ host }) => readComputerSystem(host),
  Win32_Processor: ({ host }) => readProcessors(host),
  Win32_LogicalDisk: ({ host }) => readLogicalDisks(host),
  Win32_Process: ({ host }) => readProcesses(host),
  Win32_Service: async ({ readUnits }) => (await readUnits()).map(toServiceInstance),
};

/** Get-CimInstance: the instances that match the filter, with the chosen properties in the order of the class. */
export const getCimInstance = async (
  sources: CimSources,
  parameters: CommandParameters<'Get-CimInstance'>,
): Promise<Row[]> => {
  const instances: Row[] = await readers[parameters.ClassName](sources);
  const properties = chooseProperties(parameters);
  return instances
    .filter(createFilter(parameters.Filter ?? []))
    .map((instance) => Object.fromEntries(properties.map((name) => [name, instance[name]])));
};

/** Sizes are in KB of 1,024 bytes; FreePhysicalMemory and FreeVirtualMemory are what programs can still allocate. */
const readOperatingSystem = async (host: HostReadings, now: Date): Promise<CimInstance<'Win32_OperatingSystem'>[]> => {
  const [system, memory, running] = await Promise.all([host.system(), host.memory(), host.processes()]);
  return [
    {
      Caption: system.osName,
      Version: system.osVersion,
      BuildNumber: system.osBuild,
      OSArchitecture: `${addressWidthOf(system.architecture)}-bit`,
      CSName: system.hostname,
      Status: 'OK',
      LastBootUpTime: system.bootedAt.toISOString(),
      LocalDateTime: now.toISOString(),
      TotalVisibleMemorySize: toKB(memory.total),
      FreePhysicalMemory: toKB(memory.available),
      TotalVirtualMemorySize: toKB(memory.total + memory.swapTotal),
      FreeVirtualMemory: toKB(memory.available + memory.swapFree),
      NumberOfProcesses: running.length,
      NumberOfUsers: system.userCount,
      OSType: osTypeOf(process.platform),
      CurrentTimeZone: 0 - now.getTimezoneOffset(),
    },
  ];
};

/** Memory is in bytes; NumberOfProcessors counts packages. */
const readComputerSystem = async (host: HostReadings): Promise<CimInstance<'Win32_ComputerSystem'>[]> => {
  const [system, memory, processors] = await Promise.all([host.system(), host.memory(), host.processors()]);
  return [
    {
      Name: system.hostname,
      DNSHostName: system.hostname,
      Domain: system.domain,
      Manufacturer: system.manufacturer,
      Model: system.model,
      SystemType: systemTypeOf(system.architecture),
      TotalPhysicalMemory: memory.total,
      NumberOfProcessors: processors.length,
      NumberOfLogicalProcessors: processors.reduce((sum, each) => sum + each.logicalProcessors, 0),
      HypervisorPresent: system.hypervisorPresent,
    },
  ];
};

/** One for each processor package. Clock speeds are in MHz, caches in KB. */
export const readProcessors = async (host: HostReadings): Promise<CimInstance<'Win32_Processor'>[]> => {
  const [{ architecture }, processors] = await Promise.all([host.system(), host.processors()]);
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
    AddressWidth: addressWidthOf(architecture),
    Architecture: numberOf(architecture),
  }));
};

/** Every mounted file system that has a size. Sizes are in bytes; FreeSpace is available to ordinary users. */
const readLogicalDisks = async (host: HostReadings): Promise<CimInstance<'Win32_LogicalDisk'>[]> => {
  const fileSystems = await host.fileSystems();
  return fileSystems.map((fileSystem) => ({
    DeviceID: fileSystem.mountPath,
    DriveType: driveTypes[fileSystem.kind],
    FileSystem: fileSystem.type,
    VolumeName: fileSystem.label,
    FreeSpace: fileSystem.availableBytes,
    Size: fileSystem.totalBytes,
  }));
};

/** Sizes are in bytes, times in units of 100 ns. */
const readProcesses = async (host: HostReadings): Promise<CimInstance<'Win32_Process'>[]> => {
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
};

const toKB = (bytes: number): number => Math.floor(bytes / 1024);

const toTicks = (seconds: number | null): number | null => seconds && Math.round(seconds * 1e7);

/** Win32_LogicalDisk.DriveType. */
const driveTypes: Record<FileSystemKind, number> = { removable: 2, fixed: 3, network: 4, optical: 5, memory: 6 };

const osTypes: Partial<Record<NodeJS.Platform, number>> = { darwin: 2, win32: 18, linux: 36, freebsd: 42 };

/** CIM_OperatingSystem.OSType; null if the system has no number. */
export const osTypeOf = (platform: NodeJS.Platform): number | null => osTypes[platform] ?? null;

const narrow = ['ia32', 'arm', 'mips', 'mipsel', 'ppc'];

/** Bits of an address, by Node's name of the architecture. */
export const addressWidthOf = (architecture: string): 32 | 64 => (narrow.includes(architecture) ? 32 : 64);

const numbers: Record<string, number> = { ia32: 0, mips: 1, ppc: 3, ppc64: 3, arm: 5, x64: 9, arm64: 12 };

/** Win32_Processor.Architecture; null if Windows has no number for it. */
export const numberOf = (architecture: string): number | null => numbers[architecture] ?? null;

const systemTypes: Record<string, string> = {
  ia32: 'X86-based PC',
  x64: 'x64-based PC',
  arm: 'ARM-based PC',
  arm64: 'ARM64-based PC',
};

/** Win32_ComputerSystem.SystemType; Node's name if Windows has none. */
export const systemTypeOf = (architecture: string): string => systemTypes[architecture] ?? architecture;
