import { open } from 'node:fs/promises';
import { type HangGuard, waitAtMost } from '../../sampling/hang-guard.ts';
import type { ProcessStat } from './stat.ts';

/** Length in bytes at which the kernel cuts a process's name (TASK_COMM_LEN - 1). */
const cutAt = 15;
const argumentBytes = 4096;

/** What Node.js, among others, names its first thread; the kernel reports that as the name of the process. */
const mainThread = Buffer.from('MainThread');

/** How long a list of processes waits for full names. */
const patienceMs = 250;

export type NamedProcess = Pick<ProcessStat, 'name' | 'startTicks' | 'virtualBytes'> & { pid: number };

/**
 * Returns a function that completes names that `isCut` from the first argument. It resolves within 250 ms to the full
 * names by process id; a name that was not read in time is missing. Each process is read once.
 */
export const createNameCompletion = (procFolder: string, guard: HangGuard, limitMs = patienceMs) => {
  const known = new Map<string, string>();
  const readName = async (key: string, { pid, name }: NamedProcess): Promise<void> => {
    known.set(key, toFullName(name, await readFirstArgument(`${procFolder}/${pid}/cmdline`)));
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
    await waitAtMost(limitMs, readNames([...cut].filter(([key]) => !known.has(key))));
    return new Map([...cut].flatMap(([key, { pid }]) => toEntries(pid, known.get(key))));
  };
};

/** The base name of the first argument if it continues the kernel's name or that says nothing, else the kernel's name. */
export const toFullName = (name: Buffer, firstArgument: Buffer): string => {
  const base = firstArgument.subarray(firstArgument.lastIndexOf('/') + 1);
  const isBetter = base.subarray(0, name.length).equals(name) || (name.equals(mainThread) && base.length > 0);
  return (isBetter ? base : name).toString();
};

/** True if the kernel may have cut the name, or it is that of a thread. Kernel threads have no memory, and so no arguments to complete it from. */
export const isCut = ({ name, virtualBytes }: NamedProcess): boolean =>
  virtualBytes > 0 && (name.length === cutAt || name.equals(mainThread));

/** The start time distinguishes processes that reuse an id. */
const toKey = ({ pid, startTicks, name }: NamedProcess): string => `${pid} ${startTicks} ${name.toString('latin1')}`;

const toEntries = (pid: number, name: string | undefined): [number, string][] =>
  name === undefined ? [] : [[pid, name]];

/** May hang: this reads the process's memory, which is locked while the process is stuck. */
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
