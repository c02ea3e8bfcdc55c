import { statSync, writeSync } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { JournalError, passIfGone } from './errors.ts';
import type { FileNames, Sync } from './files.ts';
import type { Settings } from './options.ts';
import { repairTail } from './repair.ts';

/** The file that records are written to. */
export interface ActiveFile {
  path: string;
  dev: bigint;
  ino: bigint;
  shared: ReturnType<typeof shareHandle>;
  /** Bytes that were written and synced: the part that is listed, and where the next batch begins. */
  size: number;
  /** When its first record was written, as far as the file system knows; Unix milliseconds. */
  begunAt: number;
  /** When a batch was last synced; milliseconds of `performance.now()`. */
  syncedAt: number;
}

/** An open file with several users; the last release closes it. */
const shareHandle = (handle: FileHandle) => {
  let users = 1;
  return {
    handle,
    retain: (): void => {
      users += 1;
    },
    release: async (): Promise<void> => {
      users -= 1;
      if (users === 0) await handle.close();
    },
  };
};

/** Opens the active file, creates it with mode 0600 if it does not exist, and repairs its end. */
export const openActiveFile = async (names: FileNames, sync: Sync, settings: Settings): Promise<ActiveFile> => {
  await readFileSize(names.active);
  const handle = await open(names.active, 'a+', 0o600);
  try {
    const size = await repairTail(names, sync, settings);
    await sync.directory(names.directory);
    const { dev, ino, birthtimeMs, mtimeMs } = await handle.stat({ bigint: true });
    const begunAt = Math.min(Number(birthtimeMs), Number(mtimeMs));
    return {
      path: names.active,
      dev,
      ino,
      shared: shareHandle(handle),
      size,
      begunAt,
      syncedAt: Number.NEGATIVE_INFINITY,
    };
  } catch (error) {
    await handle.close();
    // If the file was moved away after it was opened, open its successor.
    passIfGone(error);
    return openActiveFile(names, sync, settings);
  }
};

/**
 * Appends the whole batch and syncs it. The batch is part of the log once `size` includes it. While the disk is quick, handing
 * bytes to the system takes less time than handing them to another thread; else the write may block, and must not do so here.
 */
export const appendBatch = async (file: ActiveFile, batch: Buffer, sync: Sync): Promise<void> => {
  const { handle } = file.shared;
  // Both continue short writes until all is written or the system reports an error.
  if (isQuick(file)) for (let at = 0; at < batch.length; ) at += writeSync(handle.fd, batch, at);
  else await handle.appendFile(batch);
  await sync.data(handle);
  file.syncedAt = performance.now();
};

/** Milliseconds after a sync for which the disk counts as quick. */
const quickMs = 100;

const isQuick = ({ syncedAt }: ActiveFile): boolean => performance.now() - syncedAt < quickMs;

/**
 * Compares the open file with the one at its path. `moved`: it was renamed, removed or replaced. `cut`: it is shorter
 * than `size`. In both cases the last batch may be missing from the log. `grown`: another program wrote to it.
 */
export const compareFile = async (file: ActiveFile, size: number): Promise<'same' | 'grown' | 'cut' | 'moved'> => {
  const now = await findStatus(file);
  if (now?.dev !== file.dev || now.ino !== file.ino) return 'moved';
  if (now.size < size) return 'cut';
  return now.size > size ? 'grown' : 'same';
};

/** Undefined if there is no such file, or it cannot be reached. */
const findStatus = async (file: ActiveFile) => {
  try {
    return isQuick(file) ? statSync(file.path, { bigint: true }) : await stat(file.path, { bigint: true });
  } catch {
    return undefined;
  }
};

/** True if the file ends with the batch, regardless of its size. */
export const isAtEnd = async ({ shared: { handle } }: ActiveFile, batch: Buffer): Promise<boolean> => {
  const { size } = await handle.stat();
  const end = Buffer.alloc(batch.length);
  await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  return end.equals(batch);
};

/** Removes what was written but not acknowledged. */
export const cutBack = async ({ shared: { handle }, size }: ActiveFile): Promise<void> => {
  if ((await handle.stat()).size > size) await handle.truncate(size);
};

/** Size of the regular file at the path; undefined if there is nothing. Throws if it is not a regular file. */
export const readFileSize = async (path: string): Promise<number | undefined> => {
  // Only ENOENT proves that there is no file; after any other error it may exist.
  const found = await lstat(path).catch(passIfGone);
  if (found && !found.isFile()) {
    throw new JournalError('unusable', `${path} is not a regular file; move it away`);
  }
  return found?.size;
};
