import type { HostReadings, ProcessDetails, ProcessReading } from '../../../../host/readings.ts';
import { CommandFailure, type Row } from '../../execution/runner.ts';
import { createAnyMatcher, findUnmatched } from '../../language/filter.ts';
import type { CommandParameters } from '../../policy/policy.ts';

/**
 * Get-Process, ordered by name and id. Rejects with a CommandFailure if an id, or a name without wildcards, matches no
 * process. The whole list is built once for each host reading, which is shared for half a second.
 */
export const createGetProcess = (host: HostReadings) => {
  const wholeLists = new WeakMap<readonly ProcessReading[], Promise<Row[]>>();
  return async ({ Name, Id }: CommandParameters<'Get-Process'>): Promise<Row[]> => {
    const processes = await host.processes();
    if (Name || Id) return readRows(host, choose(processes, Name, Id));
    const rows = wholeLists.get(processes) ?? readRows(host, processes);
    wholeLists.set(processes, rows);
    return rows;
  };
};

const readRows = async (host: HostReadings, processes: readonly ProcessReading[]): Promise<Row[]> => {
  const details = await host.processDetails(processes.map(({ pid }) => pid));
  return [...processes].sort(byNameAndId).map((process) => toRow(process, details.get(process.pid)));
};

const choose = (
  processes: readonly ProcessReading[],
  names: readonly string[] = ['*'],
  ids: readonly number[] | undefined,
): ProcessReading[] => {
  const known = processes.map(({ name }) => name);
  const noName = findUnmatched(names, known);
  if (noName !== undefined) {
    throw new CommandFailure(
      `Cannot find a process with the name "${noName}". Verify the process name and call the cmdlet again.`,
    );
  }
  const noId = ids?.find((id) => !processes.some(({ pid }) => pid === id));
  if (noId !== undefined) {
    throw new CommandFailure(`Cannot find a process with the process identifier ${noId}.`);
  }
  const isNamed = createAnyMatcher(names);
  return processes.filter(({ name, pid }) => isNamed(name) && (ids?.includes(pid) ?? true));
};

const byNameAndId = (a: ProcessReading, b: ProcessReading): number => {
  const [one, other] = [a.name.toLowerCase(), b.name.toLowerCase()];
  if (one === other) return a.pid - b.pid;
  return one < other ? -1 : 1;
};

const toRow = (process: ProcessReading, details: ProcessDetails | undefined): Row => ({
  Id: process.pid,
  ProcessName: process.name,
  CPU: toSeconds(process.userSeconds, process.kernelSeconds),
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

const toSeconds = (user: number | null, kernel: number | null): number | null =>
  user === null || kernel === null ? null : Math.round((user + kernel) * 100) / 100;
