import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** One buffer for all short files, since they are read one after another. */
const buffer = Buffer.allocUnsafe(16 * 1024);

/**
 * The first 16 KiB of a file of /proc or /sys, or null if it is gone or may not be read. Much faster than `readFile` for
 * thousands of small files; use it only for files that the kernel answers from memory without waiting. The result is
 * valid until the next call.
 */
export const readKernelFile = (path: string): Buffer | null => {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

/** What `read` returns, or null if it throws: the file is gone, or this account may not read it. */
export const readOrNull = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

/** The trimmed text of a file of any length, or null if there is none. */
export const readKernelText = (path: string): string | null =>
  readOrNull(() => readFileSync(path, 'utf8').replaceAll('\0', '').trim() || null);

/** A whole number from a file that contains nothing else, or null. */
export const readKernelNumber = (path: string): number | null => {
  const text = readKernelText(path);
  return text !== null && /^-?\d+$/.test(text) ? Number(text) : null;
};
