import type { CimInstance } from '../../../policy/cim-classes.ts';
import { toIso } from '../iso.ts';
import { addressWidthOf } from './architecture.ts';
import type { CimSources } from './sources.ts';

const osTypes: Partial<Record<NodeJS.Platform, number>> = { darwin: 2, win32: 18, linux: 36, freebsd: 42 };

/** Sizes are in KB of 1,024 bytes; Free… is what programs can still get. */
export const readOperatingSystem = async ({
  host,
  clock,
}: CimSources): Promise<CimInstance<'Win32_OperatingSystem'>[]> => {
  const [system, memory, running] = await Promise.all([host.system(), host.memory(), host.processes()]);
  const now = clock();
  return [
    {
      Caption: system.osName,
      Version: system.osVersion,
      BuildNumber: system.osBuild,
      OSArchitecture: `${addressWidthOf(system.architecture)}-bit`,
      CSName: system.hostname,
      Status: 'OK',
      LastBootUpTime: toIso(system.bootedAt),
      LocalDateTime: toIso(now),
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

/** CIM_OperatingSystem.OSType; null where there is no number for the system. */
export const osTypeOf = (platform: NodeJS.Platform): number | null => osTypes[platform] ?? null;

const toKB = (bytes: number): number => Math.floor(bytes / 1024);
