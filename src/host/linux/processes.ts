import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { awaitWithin } from '../../lib/scheduling.ts';
import {
  createSharedReading,
  type HangGuard,
  mapInSlices,
  readKernelFile,
  readOrNull,
  timeReadings,
} from '../reading.ts';
import type { ProcessDetails, ProcessReading } from '../readings.ts';
import { ticksPerSecond } from './counters.ts';

const maxAgeMs = 500;

type FoundProcess = ProcessStat & { pid: number; residentPages: number };

/**
 * Creates a reader of every process in a /proc folder. See `HostReadings.processes`. `readBootedAt` is called for each
 * reading, because the clock may be set while the machine is running.
 */
export const createProcessReader = (procFolder: string, readBootedAt: () => Date, guard: HangGuard) => {
  let pageSize: number | undefined;
  const completeNames = createNameCompletion(procFolder, guard);
  const read = async (): Promise<readonly ProcessReading[]> => {
    pageSize ??= readPageSize();
    const size = pageSize;
    const bootedAt = readBootedAt().getTime();
    const cut: NamedProcess[] = [];
    // Garbage collection would be slow if parsed files lived longer than their slice.
    const processes = await mapInSlices(await listPids(procFolder), (pid) => {
      const found = readProcess(procFolder, pid);
      if (found && isCut(found)) cut.push(found);
      return found && toReading(found, bootedAt, size);
    });
    const fullNames = await completeNames(cut);
    return processes.map((process) => {
      const name = fullNames.get(process.pid);
      return name === undefined ? process : { ...process, name };
    });
  };
  return createSharedReading(timeReadings(read), maxAgeMs);
};

/** Number of processes that are read to estimate the time per process. */
const probes = 15;

/**
 * Reads `HostReadings.processReadingMs`. Uses the median, so that time during which this process waits for a CPU
 * does not count.
 */
export const estimateReadingMs = async (procFolder: string): Promise<number> => {
  const pids = await listPids(procFolder);
  const times = pids.slice(0, probes).map((pid) => {
    const from = performance.now();
    readProcess(procFolder, pid);
    return performance.now() - from;
  });
  return pids.length * (times.sort((a, b) => a - b)[times.length >> 1] ?? 0);
};

export const listPids = async (procFolder: string): Promise<number[]> =>
  (await readdir(procFolder)).filter((name) => /^\d+$/.test(name)).map(Number);

/** Reads a process. Null if it has ended since its folder was listed. */
const readProcess = (procFolder: string, pid: number): FoundProcess | null => {
  const stat = readKernelFile(`${procFolder}/${pid}/stat`);
  const parsed = stat && parseProcessStat(stat);
  // The resident size in `stat` is only approximate, because the kernel counts it per processor.
  const statm = parsed && readKernelFile(`${procFolder}/${pid}/statm`);
  return statm && { ...parsed, pid, residentPages: parseResidentPages(statm) };
};

const toReading = (process: FoundProcess, bootedAt: number, pageSize: number): ProcessReading => ({
  pid: process.pid,
  parentPid: process.parentPid,
  name: process.name.toString(),
  userSeconds: process.userTicks / ticksPerSecond,
  kernelSeconds: process.kernelTicks / ticksPerSecond,
  workingSetBytes: process.residentPages * pageSize,
  virtualBytes: process.virtualBytes,
  threads: process.threads,
  sessionId: process.session,
  priority: process.priority,
  startedAt: new Date(bootedAt + (process.startTicks * 1000) / ticksPerSecond),
});

/** Fields of /proc/PID/stat. See proc_pid_stat(5). Times are in clock ticks. */
interface ProcessStat {
  /** Name as bytes. May contain any byte except NUL. The kernel cuts it to 15 bytes. */
  name: Buffer;
  parentPid: number;
  session: number;
  userTicks: number;
  kernelTicks: number;
  priority: number;
  threads: number;
  startTicks: number;
  virtualBytes: number;
}

/**
 * Parses the content of /proc/PID/stat. The name is in brackets and may itself contain brackets, spaces and line
 * breaks, so the other fields begin after the last bracket.
 */
export const parseProcessStat = (content: Buffer): ProcessStat => {
  const open = content.indexOf('(');
  const close = content.lastIndexOf(')');
  const fields = content.toString('latin1', close + 2).split(' ');
  /** Returns the number at a position in the table of the manual. The process id has position 1. */
  const at = (position: number): number => Number(fields[position - 3]);
  return {
    name: Buffer.from(content.subarray(open + 1, close)),
    parentPid: at(4),
    session: at(6),
    userTicks: at(14),
    kernelTicks: at(15),
    priority: at(18),
    threads: at(20),
    startTicks: at(22),
    virtualBytes: at(23),
  };
};

/** Parses the resident pages in /proc/PID/statm. */
export const parseResidentPages = (content: Buffer): number => Number(content.toString('latin1').split(' ', 2)[1]);

/**
 * Reads the size of a memory page in bytes, because Node does not report it. /proc/self/status has the size of this
 * process in kB, and /proc/self/statm has it in pages.
 */
export const readPageSize = (): number =>
  parsePageSize(readFileSync('/proc/self/status', 'utf8'), readFileSync('/proc/self/statm', 'utf8'));

/**
 * Computes the page size as the nearest power of two. Memory may be allocated between the two readings. Throws if the
 * readings contain no size.
 */
export const parsePageSize = (status: string, statm: string): number => {
  const bytes = Number(/^VmSize:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  const size = 2 ** Math.round(Math.log2(bytes / Number.parseInt(statm, 10)));
  if (!Number.isFinite(size)) throw new Error('/proc does not report the size of a page of memory');
  return size;
};

/** Length in bytes to which the kernel cuts the name of a process (TASK_COMM_LEN - 1). */
const cutAt = 15;
const argumentBytes = 4096;

/**
 * Name that Node.js and other programs give to their first thread. The kernel reports it as the name of the process.
 */
const mainThread = Buffer.from('MainThread');

/** Milliseconds that a list of processes waits for full names. */
const patienceMs = 250;

export type NamedProcess = Pick<ProcessStat, 'name' | 'startTicks' | 'virtualBytes'> & { pid: number };

/**
 * Creates a function that completes the names for which `isCut` is true, using the first argument. The function
 * resolves within 250 ms to the full names by process id, without names that could not be read in time. Each process is
 * read only once.
 */
export const createNameCompletion = (procFolder: string, guard: HangGuard, limitMs = patienceMs) => {
  const known = new Map<string, string>();
  const readName = async (key: string, { pid, name }: NamedProcess): Promise<string> => {
    const fullName = toFullName(name, await readFirstArgument(`${procFolder}/${pid}/cmdline`));
    known.set(key, fullName);
    return fullName;
  };
  const readNames = async (processes: [string, NamedProcess][]): Promise<void> => {
    const deadline = performance.now() + limitMs;
    for (const [key, process] of processes) {
      const isLate = performance.now() >= deadline;
      if (isLate || (await guard(() => readName(key, process), limitMs)) === null) return;
    }
  };
  return async (processes: readonly NamedProcess[]): Promise<Map<number, string>> => {
    const cut = new Map(processes.map((process) => [toKey(process), process]));
    for (const key of known.keys()) if (!cut.has(key)) known.delete(key);
    await awaitWithin(limitMs, readNames([...cut].filter(([key]) => !known.has(key))));
    const found = [...cut].map(([key, { pid }]) => [pid, known.get(key)] as const);
    return new Map(found.filter((entry): entry is [number, string] => entry[1] !== undefined));
  };
};

/**
 * Returns the base name of the first argument if it continues the kernel's name, or if the kernel's name is generic.
 * Otherwise returns the kernel's name.
 */
export const toFullName = (name: Buffer, firstArgument: Buffer): string => {
  const base = firstArgument.subarray(firstArgument.lastIndexOf('/') + 1);
  const isBetter = base.subarray(0, name.length).equals(name) || (name.equals(mainThread) && base.length > 0);
  return (isBetter ? base : name).toString();
};

/**
 * True if the kernel may have cut the name, or if it is the name of a thread. False for kernel threads, because they
 * have no memory and therefore no arguments.
 */
export const isCut = ({ name, virtualBytes }: NamedProcess): boolean =>
  virtualBytes > 0 && (name.length === cutAt || name.equals(mainThread));

/** Returns a key that includes the start time, to distinguish processes with the same id. */
const toKey = ({ pid, startTicks, name }: NamedProcess): string => `${pid} ${startTicks} ${name.toString('latin1')}`;

/** Reads the first argument. May hang, because the memory of a stuck process is locked. */
const readFirstArgument = async (path: string): Promise<Buffer> => {
  const argument = Buffer.alloc(argumentBytes);
  try {
    const file = await open(path);
    const { bytesRead } = await file.read(argument, 0, argumentBytes, 0).finally(() => file.close());
    const end = argument.indexOf(0);
    return argument.subarray(0, end < 0 ? bytesRead : end);
  } catch {
    return Buffer.alloc(0);
  }
};

/**
 * Milliseconds after its start during which a process may change its user, as logins and services do. After that, its
 * user is cached.
 */
const settledAfterMs = 60_000;

type Found = Pick<ProcessReading, 'pid' | 'startedAt'>;

/** Reads `HostReadings.processOwners`. `passwdPath` is usually /etc/passwd. Ids without a name there stay numbers. */
export const createOwnerReader = (procFolder: string, passwdPath: string) => {
  let known = new Map<string, string>();
  return async (processes: readonly Found[]): Promise<Map<number, string>> => {
    const names = readUserNames(passwdPath);
    const kept = new Map<string, string>();
    const entries = await mapInSlices(processes, (process): [number, string] | null => {
      const key = `${process.pid} ${process.startedAt?.getTime()}`;
      const uid = (isSettled(process) && known.get(key)) || readUid(`${procFolder}/${process.pid}/status`);
      if (uid === undefined) return null;
      kept.set(key, uid);
      return [process.pid, names.get(uid) ?? uid];
    });
    known = kept;
    return new Map(entries);
  };
};

/**
 * Reads the names of local users by id, from passwd(5). The first name of an id counts. Empty if the file cannot be
 * read.
 */
export const readUserNames = (path = '/etc/passwd'): Map<string, string> => {
  const content = readOrNull(() => readFileSync(path, 'utf8')) ?? '';
  const users = content.split('\n').map((line) => line.split(':'));
  return new Map(users.reverse().flatMap(([name, , uid]): [string, string][] => (name && uid ? [[uid, name]] : [])));
};

const isSettled = ({ startedAt }: Found): boolean =>
  startedAt !== null && Date.now() - startedAt.getTime() > settledAfterMs;

/** Returns the effective user id, or undefined if the process has ended. */
const readUid = (path: string): string | undefined =>
  /^Uid:\s+\d+\s+(\d+)/m.exec(readKernelFile(path)?.toString('latin1') ?? '')?.[1];

/** Reads `HostReadings.processDetails`. */
export const readProcessDetails = async (
  procFolder: string,
  pids: readonly number[],
): Promise<Map<number, ProcessDetails>> => {
  const entries = await mapInSlices(pids, (pid): [number, ProcessDetails] | null => {
    const folder = `${procFolder}/${pid}`;
    const status = readKernelFile(`${folder}/status`)?.toString();
    return status ? [pid, { ...parseStatusSizes(status), ...readLinks(folder) }] : null;
  });
  return new Map(entries);
};

/** Parses sizes in /proc/PID/status. Null for kernel threads, because they have no memory. */
export const parseStatusSizes = (status: string): Pick<ProcessDetails, 'privateBytes' | 'pagedBytes'> => ({
  privateBytes: parseKilobytes(/^VmData:\s+(\d+) kB$/m.exec(status)),
  pagedBytes: parseKilobytes(/^VmSwap:\s+(\d+) kB$/m.exec(status)),
});

const parseKilobytes = (found: RegExpExecArray | null): number | null => found && Number(found[1]) * 1024;

/** Reads the links of a process. Null for processes of other users, and for processes that have ended. */
const readLinks = (folder: string): Pick<ProcessDetails, 'executablePath' | 'handles'> => ({
  executablePath: readOrNull(() => readlinkSync(`${folder}/exe`)),
  // Since Linux 6.2, the size of the folder is the number of its entries. In earlier versions, it is 0.
  handles: readOrNull(() => statSync(`${folder}/fd`).size || readdirSync(`${folder}/fd`).length),
});
