import { statSync, writeSync } from 'node:fs';
import { type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { JournalError, passIfGone } from './errors.ts';
import { type FileNames, nextNumber, type Sync } from './files.ts';
import { classifyLine, type GroupPart, readPart } from './line.ts';
import { type JournalSettings, maxBatchBytes, maxGroupBytes } from './options.ts';
import { findLastLineEnd, type ReadAt, readLinesBackwards, toReadAt } from './read/lines.ts';

/** Open file that receives new records. */
export interface ActiveFile {
  path: string;
  dev: bigint;
  ino: bigint;
  shared: ReturnType<typeof shareHandle>;
  /** Number of bytes that have been written and synced. Readers stop there, and the next batch begins there. */
  size: number;
  /** Time of the first record, from the file system, in Unix milliseconds. */
  begunAt: number;
  /** Time of the last sync, in milliseconds of `performance.now()`. */
  syncedAt: number;
}

/** Counts the users of an open file. The last release closes it. */
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

/** Opens the active file and repairs its tail. Creates the file with mode 0600 if it does not exist. */
export const openActiveFile = async (names: FileNames, sync: Sync, settings: JournalSettings): Promise<ActiveFile> => {
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
    // If the file was moved after it was opened, its successor is opened.
    passIfGone(error);
    return openActiveFile(names, sync, settings);
  }
};

/**
 * Appends the whole batch and syncs it. The batch is part of the log once `size` includes it. Shortly after a sync, the
 * operating system buffers a write faster than the bytes could be handed to another thread. At other times, the write
 * may block, so it runs in a thread.
 */
export const appendAndSync = async (file: ActiveFile, batch: Buffer, sync: Sync): Promise<void> => {
  const { handle } = file.shared;
  // Both branches continue short writes until everything is written or the operating system reports an error.
  if (isQuick(file)) for (let at = 0; at < batch.length; ) at += writeSync(handle.fd, batch, at);
  else await handle.appendFile(batch);
  await sync.data(handle);
  file.syncedAt = performance.now();
};

/** Milliseconds after a sync for which writes are not expected to block. */
const quickMs = 100;

const isQuick = ({ syncedAt }: ActiveFile): boolean => performance.now() - syncedAt < quickMs;

/**
 * Compares the open file with the file at its path. `moved`: the open file was renamed, removed or replaced. `cut`: the
 * file is shorter than `size`. In both cases, the last batch may be missing from the log. `grown`: another program
 * wrote to the file.
 */
export const compareFile = async (file: ActiveFile, size: number): Promise<'same' | 'grown' | 'cut' | 'moved'> => {
  const now = await findStatus(file);
  if (now?.dev !== file.dev || now.ino !== file.ino) return 'moved';
  if (now.size < size) return 'cut';
  return now.size > size ? 'grown' : 'same';
};

/** Resolves to the status of the file. Undefined if it is missing or cannot be reached. */
const findStatus = async (file: ActiveFile) => {
  try {
    return isQuick(file) ? statSync(file.path, { bigint: true }) : await stat(file.path, { bigint: true });
  } catch {
    return undefined;
  }
};

/** Resolves to true if the file ends with the batch, whatever the size of the file. */
export const isAtEnd = async ({ shared: { handle } }: ActiveFile, batch: Buffer): Promise<boolean> => {
  const { size } = await handle.stat();
  const end = Buffer.alloc(batch.length);
  await handle.read(end, 0, end.length, Math.max(0, size - end.length));
  return end.equals(batch);
};

/** Removes bytes that were written but never acknowledged. */
export const cutBack = async ({ shared: { handle }, size }: ActiveFile): Promise<void> => {
  if ((await handle.stat()).size > size) await handle.truncate(size);
};

/**
 * Resolves to the size of the regular file at the path. Undefined if there is none. Throws for anything but a regular
 * file.
 */
export const readFileSize = async (path: string): Promise<number | undefined> => {
  // Only ENOENT proves that the file does not exist. After any other error, it may exist.
  const found = await lstat(path).catch(passIfGone);
  if (found && !found.isFile()) {
    throw new JournalError('unusable', `${path} is not a regular file; move ${path} away`);
  }
  return found?.size;
};

/**
 * Moves an incomplete last line or group of the active file to a separate file, and ensures that the rest is on disk.
 * Resolves to the size of the active file.
 */
const repairTail = async (names: FileNames, sync: Sync, settings: JournalSettings): Promise<number> => {
  const handle = await open(names.active, 'r+');
  try {
    const { size, atime, mtime } = await handle.stat();
    const end = await findWholeEnd(toReadAt(handle), size, settings.maxLineBytes);
    if (end < size) {
      const savedAs = await saveTail(handle, end, names, sync);
      await handle.truncate(end);
      settings.report({ type: 'tail-cut', bytes: size - end, savedAs });
    }
    await rewriteTail(handle, end, Math.max(maxBatchBytes, maxGroupBytes, settings.maxLineBytes));
    // Retention uses the time of the last record. Restoring that time may fail if another user owns the file.
    await handle.utimes(atime, mtime).catch(() => undefined);
    await sync.data(handle);
    return end;
  } finally {
    await handle.close();
  }
};

const saveTail = async (handle: FileHandle, start: number, names: FileNames, sync: Sync): Promise<string> => {
  const path = names.torn(nextNumber(await names.listTorn()));
  const copy = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of handle.createReadStream({ start, autoClose: false })) {
      await copy.appendFile(chunk);
    }
    await sync.data(copy);
  } finally {
    await copy.close();
  }
  await sync.directory(names.directory);
  return path;
};

/**
 * Writes the tail again. After a failed sync, Linux marks lost pages as clean, so the next sync would report success.
 * Writing the same bytes again makes the pages dirty, and the next sync covers them. Only the last batch of an earlier
 * process can be affected.
 */
const rewriteTail = async (handle: FileHandle, end: number, length: number): Promise<void> => {
  const start = Math.max(0, end - length);
  const buffer = Buffer.allocUnsafe(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  for (let done = 0; done < bytesRead; ) {
    const { bytesWritten } = await handle.write(buffer, done, bytesRead - done, start + done);
    done += bytesWritten;
  }
};

/**
 * Resolves to the offset after the last whole line that does not belong to an incomplete group. 0 without such a line.
 */
const findWholeEnd = async (read: ReadAt, size: number, maxLineBytes: number): Promise<number> => {
  const lineEnd = await findLastLineEnd(read, size);
  let end = lineEnd;
  /** Group part of the last line that was cut off. */
  let cut: GroupPart | undefined;
  for await (const lines of readLinesBackwards(read, lineEnd, maxLineBytes)) {
    for (const { start, bytes } of lines) {
      // The reader starts with the empty line after the last newline.
      if (start === lineEnd) continue;
      const part = bytes && classifyLine(bytes) === 'own' ? readPart(bytes) : undefined;
      if (!part || !(cut ? isBefore(part, cut) : part.index < part.count)) return end;
      end = start;
      cut = part;
    }
  }
  return end;
};

const isBefore = (part: GroupPart, next: GroupPart): boolean =>
  part.count === next.count && part.index === next.index - 1;
