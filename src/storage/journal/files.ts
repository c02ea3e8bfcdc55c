import { type FileHandle, mkdir, open, readdir, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { JournalError } from './errors.ts';

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

/**
 * Creates the directory and its missing parents, for their owner only, each synced into its own parent.
 * mkdir's own `recursive` retries forever on a file system without mkdir (/proc).
 */
export const createDirectory = async (path: string, sync: Sync): Promise<void> => {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // An earlier process may have been killed before this sync. We may not be allowed to read the parent.
    if (code === 'EEXIST') return sync.directory(dirname(directory)).catch(() => undefined);
    if (code !== 'ENOENT' || dirname(directory) === directory) throw error;
    await createDirectory(dirname(directory), sync);
    await mkdir(directory, { mode: 0o700 });
  }
  await sync.directory(dirname(directory));
};

/** Syncs bytes and names to disk; does nothing if syncing is off. */
export interface Sync {
  /** A file's bytes and the size needed to find them again. */
  data(handle: FileHandle): Promise<void>;
  /** A directory's names, after one was created, renamed or removed. */
  directory(path: string): Promise<void>;
}

/** Windows has no way to sync a directory, and needs none: NTFS journals its names. */
export const createSync = (enabled: boolean, platform: NodeJS.Platform = process.platform): Sync => ({
  data: enabled ? (handle) => handle.datasync() : nothing,
  directory: enabled && platform !== 'win32' ? syncDirectory : nothing,
});

/** Reports how long each successful sync of bytes took, in seconds. */
export const measureSync = (sync: Sync, onSync: (seconds: number) => void): Sync => ({
  ...sync,
  data: async (handle) => {
    const startedAt = performance.now();
    await sync.data(handle);
    onSync((performance.now() - startedAt) / 1000);
  },
});

const nothing = async (): Promise<void> => undefined;

const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const checkedForMs = 1000;

/**
 * Called before `bytes` are written. Throws JournalError `low-space` while the file system has less than `minFreeBytes`
 * for ordinary users.
 */
export type AssertFreeSpace = (bytes: number) => Promise<void>;

/** Once there is enough space, it is not checked again for a second, unless this journal itself uses it up. */
export const createFreeSpaceCheck = (directory: string, minFreeBytes: number): AssertFreeSpace => {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let spare = 0;
  return async (bytes) => {
    spare -= bytes;
    if (spare >= 0 && performance.now() - checkedAt < checkedForMs) return;
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < minFreeBytes) {
      throw new JournalError('low-space', `less than ${minFreeBytes} bytes are free for ${directory}`);
    }
    spare = bavail * bsize - minFreeBytes - bytes;
    checkedAt = performance.now();
  };
};
