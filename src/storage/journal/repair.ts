import { type FileHandle, open } from 'node:fs/promises';
import { type FileNames, nextNumber, type Sync } from './files.ts';
import type { Part } from './line.ts';
import { maxBatchBytes, maxGroupBytes, type Settings } from './options.ts';
import { classifyLine, readPart } from './parse.ts';
import { findLastLineEnd, type ReadAt, readLinesBackwards, toReadAt } from './read/lines.ts';

/**
 * Cuts an incomplete last line or group off the active file, saving it in a file of its own, and makes sure that the end
 * of the file is on disk; resolves to its size.
 */
export const repairTail = async (names: FileNames, sync: Sync, settings: Settings): Promise<number> => {
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
    // Retention goes by the time of the last record. A file of another owner may refuse this.
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
 * After a failed sync, Linux marks lost pages as clean, and the next sync reports success. Writing the same bytes again
 * makes them dirty, so the next sync covers them. Only the last batch of an earlier process can be affected.
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

/** The offset before `size` where the last whole line ends that is not of an incomplete group; 0 where there is none. */
const findWholeEnd = async (read: ReadAt, size: number, maxLineBytes: number): Promise<number> => {
  const lineEnd = await findLastLineEnd(read, size);
  let end = lineEnd;
  /** The part that was cut off last. */
  let cut: Part | undefined;
  for await (const lines of readLinesBackwards(read, lineEnd, maxLineBytes)) {
    for (const { start, bytes } of lines) {
      // Behind the last newline is nothing.
      if (start === lineEnd) continue;
      const part = bytes && classifyLine(bytes) === 'own' ? readPart(bytes) : undefined;
      if (!part || !(cut ? isBefore(part, cut) : part.index < part.count)) return end;
      end = start;
      cut = part;
    }
  }
  return end;
};

const isBefore = (part: Part, next: Part): boolean => part.count === next.count && part.index === next.index - 1;
