import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

/** Length in bytes at which the kernel cuts a process's name (TASK_COMM_LEN - 1). */
const cutAt = 15;
const argumentBytes = 4096;

/** A process's memory can be locked for as long as it is stuck; its arguments are not waited for longer. */
const patienceMs = 250;

/** A process as the names need it; the start tells apart processes that had the same id. */
export interface NamedProcess {
  pid: number;
  name: Buffer;
  startTicks: number;
  virtualBytes: number;
}

/**
 * Returns a function that completes the names of processes that `isCut`, from the first argument: it resolves within
 * 250 ms to the full names by process id. Each process is asked once; one that does not answer in time
 * is missing, and is not asked again before it has answered.
 */
export const createNameCompletion = (procFolder: string, limitMs = patienceMs) => {
  const known = new Map<string, string>();
  const asked = new Map<string, Promise<void>>();
  const ask = async (key: string, { pid, name }: NamedProcess): Promise<void> => {
    known.set(key, toFullName(name, await readFirstArgument(`${procFolder}/${pid}/cmdline`)));
    asked.delete(key);
  };
  return async (processes: readonly NamedProcess[]): Promise<Map<number, string>> => {
    const cut = new Map(processes.map((process) => [toKey(process), process]));
    for (const key of known.keys()) {
      if (!cut.has(key)) {
        known.delete(key);
      }
    }
    for (const [key, process] of cut) {
      if (!known.has(key) && !asked.has(key)) {
        asked.set(key, ask(key, process));
      }
    }
    await waitBriefly([...asked.values()], limitMs);
    return new Map([...cut].flatMap(([key, { pid }]) => toEntries(pid, known.get(key))));
  };
};

/** The base name of the first argument where it continues the kernel's name, else the kernel's name. */
export const toFullName = (name: Buffer, firstArgument: Buffer): string => {
  const base = firstArgument.subarray(firstArgument.lastIndexOf('/') + 1);
  return (base.subarray(0, name.length).equals(name) ? base : name).toString();
};

/** Whether the kernel may have cut the name. Its own threads have no memory, and so no arguments to complete it from. */
export const isCut = ({ name, virtualBytes }: NamedProcess): boolean =>
  name.length === cutAt && virtualBytes > 0;

const toKey = ({ pid, startTicks, name }: NamedProcess): string =>
  `${pid} ${startTicks} ${name.toString('latin1')}`;

const toEntries = (pid: number, name: string | undefined): [number, string][] =>
  name === undefined ? [] : [[pid, name]];

/** Read through the thread pool: unlike the other files read here, this one can make its reader wait. */
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

const waitBriefly = async (work: Promise<void>[], limitMs: number): Promise<void> => {
  const done = new AbortController();
  const limit = setTimeout(limitMs, undefined, { signal: done.signal });
  await Promise.race([Promise.all(work), limit]).finally(() => done.abort());
};
