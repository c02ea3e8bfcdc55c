import { type FileHandle, mkdir, open, readdir, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { dayMs } from '../../lib/units.ts';
import { JournalError } from './errors.ts';
import type { JournalSettings } from './options.ts';

export type FileNames = ReturnType<typeof createFileNames>;

/** Returns the paths of a journal's files. */
export const createFileNames = (directory: string, name: string) => ({
  directory,
  active: join(directory, `${name}.jsonl`),
  /** Path of the socket that serves as the lock. */
  lock: join(directory, `${name}.lock`),
  closed: (number: number): string => join(directory, `${name}.${toDigits(number)}.jsonl`),
  /** Returns the path of the index of a file. The index can be rebuilt. */
  index: (segment: string): string => segment.replace(/\.jsonl$/, '.index'),
  /** Returns the path for an incomplete last line or group that was cut off from the log. */
  torn: (number: number): string => join(directory, `${name}.${toDigits(number)}.torn`),
  /** Resolves to the numbers of the closed segments, oldest first. */
  listClosed: () => listNumbers(directory, `${name}.`, '.jsonl'),
  listTorn: () => listNumbers(directory, `${name}.`, '.torn'),
  /** Resolves to the paths of all files that belong to the log, except its lock. Some of the files may not exist. */
  listAll: async (): Promise<string[]> => {
    const names = createFileNames(directory, name);
    const closed = (await names.listClosed()).map(names.closed);
    const segments = [names.active, ...closed];
    return [...segments, ...segments.map(names.index), ...(await names.listTorn()).map(names.torn)];
  },
});

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
 * Creates the directory and its missing parents, accessible only to their owner, and syncs each into its parent. Does
 * not use the `recursive` option of mkdir, because that option retries forever on a file system without mkdir (/proc).
 */
export const createDirectory = async (path: string, sync: Sync): Promise<void> => {
  const directory = resolve(path);
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // An earlier process may have been killed before this sync. The parent may be unreadable.
    if (code === 'EEXIST') return sync.directory(dirname(directory)).catch(() => undefined);
    if (code !== 'ENOENT' || dirname(directory) === directory) throw error;
    await createDirectory(dirname(directory), sync);
    await mkdir(directory, { mode: 0o700 });
  }
  await sync.directory(dirname(directory));
};

/** Syncs file contents and names to disk. Does nothing if syncing is off. */
export interface Sync {
  /** Syncs the contents of a file, and its size as far as reading needs it. */
  data(handle: FileHandle): Promise<void>;
  /** Syncs the names in a directory after a file was created, renamed or removed. */
  directory(path: string): Promise<void>;
}

/** Creates the sync. Windows cannot sync directories, and does not have to, because NTFS journals their names. */
export const createSync = (enabled: boolean, platform: NodeJS.Platform = process.platform): Sync => ({
  data: enabled ? (handle) => handle.datasync() : nothing,
  directory: enabled && platform !== 'win32' ? syncDirectory : nothing,
});

/** Reports the duration of each successful sync of contents, in seconds. */
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
 * Called before `bytes` are written. Throws a JournalError with the code `low-space` while the file system has less
 * than `minFreeBytes` for ordinary users.
 */
export type AssertFreeSpace = (bytes: number) => Promise<void>;

/** Returns the used and available bytes of the file system that contains the directory. */
export const readSpace = async (directory: string): Promise<{ used: number; available: number }> => {
  const { bsize, blocks, bfree, bavail } = await statfs(directory);
  return { used: bsize * (blocks - bfree), available: bsize * bavail };
};

/**
 * Creates a check that is skipped for a second after it has found enough space, unless this journal itself has used up
 * that space.
 */
export const createFreeSpaceCheck = (directory: string, minFreeBytes: number): AssertFreeSpace => {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let spare = 0;
  return async (bytes) => {
    spare -= bytes;
    if (spare >= 0 && performance.now() - checkedAt < checkedForMs) return;
    const { available } = await readSpace(directory);
    if (available < minFreeBytes) {
      throw new JournalError('low-space', `less than ${minFreeBytes} bytes are free on the disk of ${directory}`);
    }
    spare = available - minFreeBytes - bytes;
    checkedAt = performance.now();
  };
};

type Limits = Pick<JournalSettings, 'retainSegments' | 'retainBytes' | 'retainDays'>;

/** Hold on segments beyond the retention limits that a reader still needs. */
export interface Hold {
  /** Returns the seq up to which the reader has finished. */
  from(): number;
  /**
   * Maximum size in bytes of all closed segments while they are held for the reader, including segments within the
   * limits.
   */
  maxBytes: number;
  /** Called before a segment that the reader still needs is deleted. Receives the last seq of that segment. */
  onDropped(lastSeq: number): void;
}

interface Segment {
  path: string;
  bytes: number;
  ageMs: number;
}

/**
 * Deletes closed segments, oldest first, until the remaining ones are within the limits or held. Resolves to the
 * deleted files. If a file cannot be deleted, the next call tries again.
 */
export const removeOldSegments = async (
  names: FileNames,
  limits: Limits,
  holds: readonly Hold[] = [],
  findLastSeq: (path: string) => Promise<number> = async () => 0,
): Promise<string[]> => {
  const numbers = await names.listClosed();
  const readings = await Promise.allSettled(numbers.map((number) => readSegment(names.closed(number))));
  // An unreadable segment has probably just been deleted.
  const segments = readings.flatMap((reading) => (reading.status === 'fulfilled' ? [reading.value] : []));
  const old = segments.reverse().filter(createOldTest(limits)).reverse();
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const removed: string[] = [];
  for (const segment of old) {
    const lastSeq = holds.length > 0 ? await findLastSeq(segment.path).catch(() => undefined) : 0;
    // A segment that is unreadable now may still be needed.
    if (lastSeq === undefined) continue;
    const unread = holds.filter((hold) => lastSeq > hold.from());
    if (unread.some(({ maxBytes }) => bytes <= maxBytes)) continue;
    // Called before the deletion, because a reader would take a missing segment for a gap.
    for (const hold of unread) hold.onDropped(lastSeq);
    if (!(await remove(segment.path))) continue;
    await remove(names.index(segment.path));
    bytes -= segment.bytes;
    removed.push(segment.path);
  }
  return removed;
};

/** Deletes a file. Resolves to true if it has been deleted. */
const remove = (path: string): Promise<boolean> =>
  unlink(path).then(
    () => true,
    () => false,
  );

const readSegment = async (path: string): Promise<Segment> => {
  const { size, mtimeMs } = await stat(path);
  return { path, bytes: size, ageMs: Date.now() - mtimeMs };
};

/** Creates the test for segments to delete. Call it once per segment, newest first. */
const createOldTest = ({ retainSegments, retainBytes, retainDays }: Limits): ((s: Segment) => boolean) => {
  let count = 0;
  let total = 0;
  return ({ bytes, ageMs }) => {
    count += 1;
    total += bytes;
    return isOver(count, retainSegments) || isOver(total, retainBytes) || isOver(ageMs, retainDays * dayMs);
  };
};

const isOver = (value: number, limit: number): boolean => limit > 0 && value > limit;
