import { cpuSecondsOf } from '../../../host/process-usage.ts';
import { computeOnce } from '../../../host/reading.ts';
import type { HostReadings, ProcessDetails, ProcessReading } from '../../../host/readings.ts';
import type { CommandParameters } from '../policy.ts';
import { CommandFailure, type CommandOutput, type OutputRow, selectMatching, toOutput } from '../runner.ts';

/**
 * Get-Process. Returns processes by name and id. Rejects with a CommandFailure if an id, or a name without wildcards,
 * matches no process. The whole list is built only once per host reading. Readings are shared for half a second.
 */
export const createGetProcess = (host: HostReadings) => {
  const list = async (processes: readonly ProcessReading[]): Promise<CommandOutput> => {
    const details = await host.processDetails(processes.map(({ pid }) => pid));
    return toOutput(
      [...processes].sort(byNameAndId).map((process) => toPowerShellProcess(process, details.get(process.pid))),
    );
  };
  const listAll = computeOnce(list);
  return async (parameters: CommandParameters<'Get-Process'>): Promise<CommandOutput> => {
    const processes = await host.processes();
    const chosen = chooseProcesses(processes, parameters);
    return chosen === processes ? listAll(processes) : list(chosen);
  };
};

const chooseProcesses = (
  processes: readonly ProcessReading[],
  { Name, Id }: CommandParameters<'Get-Process'>,
): readonly ProcessReading[] => {
  const named = selectMatching(
    processes,
    'name',
    Name,
    (name) => `Cannot find a process with the name "${name}". Verify the process name and call the cmdlet again.`,
  );
  const noId = Id?.find((id) => !processes.some(({ pid }) => pid === id));
  if (noId !== undefined) throw new CommandFailure(`Cannot find a process with the process identifier ${noId}.`);
  return Id ? named.filter(({ pid }) => Id.includes(pid)) : named;
};

const byNameAndId = (a: ProcessReading, b: ProcessReading): number => {
  const [one, other] = [a.name.toLowerCase(), b.name.toLowerCase()];
  if (one === other) return a.pid - b.pid;
  return one < other ? -1 : 1;
};

const toPowerShellProcess = (process: ProcessReading, details: ProcessDetails | undefined): OutputRow => ({
  Id: process.pid,
  ProcessName: process.name,
  CPU: cpuSecondsOf(process),
  WorkingSet64: process.workingSetBytes,
  PagedMemorySize64: details?.pagedBytes ?? null,
  VirtualMemorySize64: process.virtualBytes,
  PrivateMemorySize64: details?.privateBytes ?? null,
  HandleCount: details?.handles ?? null,
  ThreadCount: process.threads,
  SessionId: process.sessionId,
  StartTime: process.startedAt?.toISOString() ?? null,
  Path: details?.executablePath ?? null,
  ParentId: process.parentPid,
});
