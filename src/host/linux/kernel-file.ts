import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { readOrNull } from '../sampler.ts';

/** One buffer for all files, since they are read one after another. */
let buffer = Buffer.allocUnsafe(16 * 1024);

/**
 * A file of /proc or /sys, or null if it is gone or may not be read. Much faster than `readFile` for thousands of small files;
 * use it only for files that the kernel answers from memory without waiting. The result is valid until the next call.
 */
export const readKernelFile = (path: string): Buffer | null => {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return readToEnd(file);
  } catch {
    return null;
  } finally {
    if (file !== undefined) closeSync(file);
  }
};

/** Of files with many entries, one read returns whole entries, and no more than a page: a short read is not the end. */
const readToEnd = (file: number): Buffer => {
  let length = 0;
  for (;;) {
    const count = readSync(file, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * length);
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
