import { lstat, open, stat } from 'node:fs/promises';
import { codeOf, JournalError } from '../errors.ts';
import type { FileNames } from '../files/names.ts';
import { repairTail } from '../files/repair.ts';
import { type SharedHandle, shareHandle } from '../files/shared-handle.ts';
import type { Sync } from '../files/sync.ts';
import type { Settings } from '../options.ts';

/** The file that is written to. */
export interface ActiveFile {
  path: string;
  dev: bigint;
  ino: bigint;
  shared: SharedHandle;
  /** Bytes that were written and synced: what is listed, and where the next batch begins. */
  size: number;
}

/** Opens the active file, creating it with mode 0600 where it is missing, and repairs its end. */
export const openActiveFile = async (
  names: FileNames,
  sync: Sync,
  settings: Settings,
): Promise<ActiveFile> => {
  await readFileSize(names.active);
  const handle = await open(names.active, 'a+', 0o600);
  try {
    const size = await repairTail(names, sync, settings);
    await sync.directory(names.directory);
    const { dev, ino } = await handle.stat({ bigint: true });
    return { path: names.active, dev, ino, shared: shareHandle(handle), size };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/** Writes all of the batch after what is there, and syncs it. It counts once `size` has been moved. */
export const appendBatch = async ({ shared }: ActiveFile, batch: Buffer, sync: Sync): Promise<void> => {
  // appendFile goes on after a short write until all is written or the system says why not
  await shared.handle.appendFile(batch);
  await sync.data(shared.handle);
};

/**
 * Is the file still what its path names, and `size` long? `moved`: it was renamed, removed or replaced. `cut`: it
 * is shorter. In both cases what was just written may be gone from the log. `grown`: somebody else wrote to it.
 */
export const compareFile = async (
  file: ActiveFile,
  size: number,
): Promise<'same' | 'grown' | 'cut' | 'moved'> => {
  const now = await stat(file.path, { bigint: true }).catch(() => undefined);
  if (now?.dev !== file.dev || now.ino !== file.ino) {
    return 'moved';
  }
  if (now.size < size) {
    return 'cut';
  }
  return now.size > size ? 'grown' : 'same';
};

/** Is the batch the last thing in the file, wherever that is? */
export const isAtEnd = async ({ shared: { handle } }: ActiveFile, batch: Buffer): Promise<boolean> => {
  const { size } = await handle.stat();
  const end = Buffer.alloc(batch.length);
  await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  return end.equals(batch);
};

/** Takes away what was written but not acknowledged. */
export const cutBack = async ({ shared: { handle }, size }: ActiveFile): Promise<void> => {
  if ((await handle.stat()).size > size) {
    await handle.truncate(size);
  }
};

/** Size of the regular file at the path, undefined where there is nothing; throws where something else is. */
export const readFileSize = async (path: string): Promise<number | undefined> => {
  const found = await lstat(path).catch((error) => {
    // A file that cannot be looked at may be there: it must not be taken for a new one.
    if (codeOf(error) !== 'ENOENT') throw error;
  });
  if (found && !found.isFile()) {
    throw new JournalError('unusable', `${path} is in the way: it is not a regular file`);
  }
  return found?.size;
};
