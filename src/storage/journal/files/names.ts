import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

export type FileNames = ReturnType<typeof createFileNames>;

/** Paths of a journal's files. */
export const createFileNames = (directory: string, name: string) => ({
  directory,
  /** The file that records are written to. */
  active: join(directory, `${name}.jsonl`),
  /** Where the lock's socket is. */
  lock: join(directory, `${name}.lock`),
  /** A closed segment. */
  closed: (number: number): string => join(directory, `${name}.${toDigits(number)}.jsonl`),
  /** What is known of the records of a closed segment; a help that can be rebuilt. */
  index: (segment: string): string => segment.replace(/\.jsonl$/, '.index'),
  /** An incomplete last line or group that was cut off. */
  torn: (number: number): string => join(directory, `${name}.${toDigits(number)}.torn`),
  /** The numbers of the closed segments, oldest first. */
  listClosed: () => listNumbers(directory, `${name}.`, '.jsonl'),
  listTorn: () => listNumbers(directory, `${name}.`, '.torn'),
  /** The paths of everything that the log has, except its lock; some may not exist. */
  listAll: async (): Promise<string[]> => {
    const names = createFileNames(directory, name);
    const closed = (await names.listClosed()).map(names.closed);
    return [names.active, ...closed, ...closed.map(names.index), ...(await names.listTorn()).map(names.torn)];
  },
});

/** The number after the last one. */
export const nextNumber = (numbers: number[]): number => (numbers.at(-1) ?? 0) + 1;

const toDigits = (number: number): string => String(number).padStart(8, '0');

const listNumbers = async (directory: string, prefix: string, suffix: string): Promise<number[]> => {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.startsWith(prefix) && entry.name.endsWith(suffix))
    .map((entry) => entry.name.slice(prefix.length, -suffix.length))
    .filter((digits) => /^\d{8,}$/.test(digits))
    .map(Number)
    .sort((a, b) => a - b);
};
