import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { awaitWithin, createSerial } from '../lib/scheduling.ts';
import { Slice } from '../lib/slice.ts';

/** What `read` returns, or null if it throws: a file is gone, or this account may not read it. */
export const readOrNull = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

/** The age of a reading of the last minute: a little less, so that who asks once a minute gets another one each time. */
export const freshMs = 59_000;

const readTimes = new WeakMap<object, number>();

/** Remembers when each reading began, for whoever compares it with another one. */
export const timeReadings =
  <T extends object>(read: () => Promise<T>): (() => Promise<T>) =>
  async () => {
    const at = performance.now();
    const reading = await read();
    readTimes.set(reading, at);
    return reading;
  };

/** When a reading that is timed began, as `performance.now` has it; now for another one. */
export const readTimeOf = (reading: object): number => readTimes.get(reading) ?? performance.now();

/**
 * Lets callers share one reading: they wait for a reading in progress, and get the last one if it began at most
 * `maxAgeMs` ago. A failed reading is not kept.
 */
export const createSharedReading = <T>(read: () => Promise<T>, maxAgeMs: number): (() => Promise<T>) => {
  let latest: Promise<T> | undefined;
  let expiresAt = 0;
  return () => {
    const now = performance.now();
    if (latest && now < expiresAt) return latest;
    latest = read();
    expiresAt = Number.POSITIVE_INFINITY;
    latest.then(
      () => {
        expiresAt = now + maxAgeMs;
      },
      () => {
        latest = undefined;
      },
    );
    return latest;
  };
};

/** A number with so many decimals; null for an unknown one. */
export const roundOrNull = (value: number | undefined, decimals = 0): number | null =>
  value !== undefined && Number.isFinite(value) ? Number(value.toFixed(decimals)) : null;

/** Computes a value once for each object, e.g. for a reading that several callers share. */
export const computeOnce = <K extends object, V extends object>(compute: (key: K) => V): ((key: K) => V) => {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
};

/** Readings are made all the time, so each step of one is short. */
export const readingSliceMs = 0.25;

/**
 * Like `Array.map`, for long lists: lets other work run every quarter of a millisecond. Leaves out items for which
 * `map` returns null.
 */
export const mapInSlices = async <T, R>(items: readonly T[], map: (item: T) => R | null): Promise<R[]> => {
  const results: R[] = [];
  const slice = new Slice(readingSliceMs);
  for (const item of items) {
    if (slice.isOver) await slice.giveWay();
    const result = map(item);
    if (result !== null) results.push(result);
  }
  return results;
};

/** Runs a read that may hang; resolves to null if it takes longer than `limitMs`, or an earlier one still hangs. */
export type HangGuard = <T extends object | string | null>(
  read: () => Promise<T>,
  limitMs: number,
) => Promise<T | null>;

/**
 * A read hangs if the server of a file system is gone or a process is stuck; it then blocks one of the few threads of
 * Node's pool. Reads through one guard run one at a time, and none starts while one hangs, so at most one thread is lost.
 */
export const createHangGuard = (): HangGuard => {
  const serially = createSerial();
  let isReading = false;
  return (read, limitMs) =>
    serially(async () => {
      if (isReading) return null;
      isReading = true;
      const result = read().finally(() => {
        isReading = false;
      });
      return (await awaitWithin(limitMs, result)) ?? null;
    });
};

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
