import { statSync, writeSync } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
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

/**
 * Appends the whole batch and syncs it. The batch is part of the log once `size` includes it. Only the sync waits for the disk:
 * handing bytes to the system takes less time than handing them to another thread.
 */
export const appendBatch = async ({ shared }: ActiveFile, batch: Buffer, sync: Sync): Promise<void> => {
  // Short writes are continued until all is written or the system reports an error.
  for (let at = 0; at < batch.length; ) at += writeSync(shared.handle.fd, batch, at);
  await sync.data(shared.handle);
};

/**
 * Compares the open file with the one at its path. `moved`: it was renamed, removed or replaced. `cut`: it is shorter
 * than `size`. In both cases the last batch may be missing from the log. `grown`: another program wrote to it.
 */
export const compareFile = (file: ActiveFile, size: number): 'same' | 'grown' | 'cut' | 'moved' => {
  const now = findStatus(file.path);
  if (now?.dev !== file.dev || now.ino !== file.ino) return 'moved';
  if (now.size < size) return 'cut';
  return now.size > size ? 'grown' : 'same';
};

/** Undefined if there is no such file, or it cannot be reached. */
const findStatus = (path: string) => {
  try {
    return statSync(path, { bigint: true });
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
