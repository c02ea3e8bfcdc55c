import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { JournalError, passIfGone } from '../errors.ts';
import type { FileNames } from '../files/names.ts';
import { repairTail } from '../files/repair.ts';
import type { Sync } from '../files/sync.ts';
import type { Settings } from '../options.ts';

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
    return { path: names.active, dev, ino, shared: shareHandle(handle), size, begunAt };
  } catch (error) {
    await handle.close();
    // If the file was moved away after it was opened, open its successor.
    passIfGone(error);
    return openActiveFile(names, sync, settings);
  }
};

/** Appends the whole batch and syncs it. The batch is part of the log once `size` includes it. */
export const appendBatch = async ({ shared }: ActiveFile, batch: Buffer, sync: Sync): Promise<void> => {
  // appendFile continues short writes until all is written or the system reports an error
  await shared.handle.appendFile(batch);
  await sync.data(shared.handle);
};

/**
 * Compares the open file with the one at its path. `moved`: it was renamed, removed or replaced. `cut`: it is shorter
 * than `size`. In both cases the last batch may be missing from the log. `grown`: another program wrote to it.
 */
export const compareFile = async (file: ActiveFile, size: number): Promise<'same' | 'grown' | 'cut' | 'moved'> => {
  const now = await stat(file.path, { bigint: true }).catch(() => undefined);
  if (now?.dev !== file.dev || now.ino !== file.ino) return 'moved';
  if (now.size < size) return 'cut';
  return now.size > size ? 'grown' : 'same';
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
