import type { HostReadings } from '../../../../../host/readings.ts';
import type { CimInstance } from '../../../policy/cim-classes.ts';

/** Sizes are in bytes, times in units of 100 ns. */
export const readProcesses = async (host: HostReadings): Promise<CimInstance<'Win32_Process'>[]> => {
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

const toTicks = (seconds: number | null): number | null => seconds && Math.round(seconds * 1e7);
