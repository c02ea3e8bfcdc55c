import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { MiB } from './units.ts';

const chunkBytes = 64 * 1024;

/** Limit in bytes. Certificates, keys and secrets are smaller. */
const usualBytes = MiB;

/** Open flags that keep opening from blocking on a named pipe without a writer. */
const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Milliseconds within which a pipe must deliver its content, and milliseconds between two attempts to read more of it.
 */
const pipeMs = 5000;
const pauseMs = 5;

/**
 * Reads the text of a small file, such as a certificate. Rejects with an Error for pipes, devices and files over 1 MiB.
 * Counts the bytes while reading, because /proc reports a size of 0 for its files.
 */
export const readSmallFile = async (path: string): Promise<string> => {
  const file = await open(path, flags);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Error('not a regular file');
    return await readBounded(file);
  } finally {
    await file.close();
  }
};

/**
 * Reads the bytes of a file named in the settings. A pipe, such as one created by `<(command)`, is read to its end.
 * Throws an Error if the file exceeds `maxBytes`, or if a pipe has not ended within 5 seconds.
 */
export const readSmallFileSync = (path: string, maxBytes = usualBytes): Buffer => {
  const file = openSync(path, flags);
  try {
    const found = fstatSync(file);
    const deadline = found.isFile() || found.isDirectory() ? 0 : performance.now() + pipeMs;
    const chunks: Buffer[] = [];
    const chunk = Buffer.alloc(chunkBytes);
    for (let bytes = 0; ; ) {
      const count = readAvailable(file, chunk);
      // The writer of a named pipe may open it later.
      const isEarly = count === undefined || (count === 0 && bytes === 0 && found.isFIFO());
      if (isEarly && performance.now() < deadline) {
        pauseThread();
        continue;
      }
      if (count === undefined) throw new Error(`the pipe did not end within ${pipeMs / 1000} s`);
      if (count === 0) return Buffer.concat(chunks);
      bytes += count;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      chunks.push(Buffer.from(chunk.subarray(0, count)));
    }
  } finally {
    closeSync(file);
  }
};

const readBounded = async (file: FileHandle): Promise<string> => {
  const chunks: Buffer[] = [];
  const chunk = Buffer.alloc(chunkBytes);
  for (let bytes = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes);
    if (bytesRead === 0) return Buffer.concat(chunks).toString();
    bytes += bytesRead;
    if (bytes > usualBytes) throw tooLarge(usualBytes);
    chunks.push(Buffer.from(chunk.subarray(0, bytesRead)));
  }
};

/** Reads the bytes that are available now. Returns undefined if the pipe has no data yet. */
const readAvailable = (file: number, chunk: Buffer): number | undefined => {
  try {
    return readSync(file, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
};

const pauseThread = (): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);

const tooLarge = (maxBytes: number): Error => new Error(`the file is larger than ${maxBytes / MiB} MiB`);
