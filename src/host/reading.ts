import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { awaitWithin, createSerial } from '../lib/scheduling.ts';
import { Slice } from '../lib/slice.ts';

/** Returns the result of `read`. Null if it throws because a file does not exist or this account may not read it. */
export const readOrNull = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch {
    return null;
  }
};

/**
 * Maximum age in milliseconds of a reading taken once a minute. Slightly less than a minute, so that a caller who reads
 * once a minute always gets a new reading.
 */
export const freshMs = 59_000;

const readTimes = new WeakMap<object, number>();

/** Records when each reading began, so that it can be compared with another reading. */
export const timeReadings =
  <T extends object>(read: () => Promise<T>): (() => Promise<T>) =>
  async () => {
    const at = performance.now();
    const reading = await read();
    readTimes.set(reading, at);
    return reading;
  };

/**
 * Returns the time at which a timed reading began, on the clock of `performance.now`. For any other reading, returns
 * the current time.
 */
export const readTimeOf = (reading: object): number => readTimes.get(reading) ?? performance.now();

/**
 * Shares readings among callers. Callers wait for a reading in progress. Otherwise they get the last reading if it
 * began at most `maxAgeMs` ago. A failed reading is not shared with later callers.
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

/** Rounds a number to a given number of decimals. Null for an unknown number. */
export const roundOrNull = (value: number | undefined, decimals = 0): number | null =>
  value !== undefined && Number.isFinite(value) ? Number(value.toFixed(decimals)) : null;

/** Computes a value once per object, e.g. for a reading that several callers share. */
export const computeOnce = <K extends object, V extends object>(compute: (key: K) => V): ((key: K) => V) => {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
};

/** Duration of one step of a reading in milliseconds. Short, because readings run all the time. */
export const readingSliceMs = 0.25;

/**
 * Works like `Array.map` for long lists. Lets other work run every quarter of a millisecond. Omits items for which
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

/**
 * Runs a read that may hang. Resolves to null if the read takes longer than `limitMs`, or if an earlier read is still
 * hanging.
 */
export type HangGuard = <T extends object | string | null>(
  read: () => Promise<T>,
  limitMs: number,
) => Promise<T | null>;

/**
 * Creates a guard for reads that may hang because the server of a file system does not respond or a process is stuck. A
 * hanging read blocks one of the few threads in Node's pool. Reads through the same guard run one at a time, and none
 * starts while another hangs, so at most one thread is lost.
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

/** Buffer for all files. One suffices, because files are read one at a time. */
let buffer = Buffer.allocUnsafe(16 * 1024);

/**
 * Reads a file in /proc or /sys. Null if it does not exist or is unreadable. Much faster than `readFile` for thousands
 * of small files. Use it only for files that the kernel serves from memory without waiting. The result is valid until
 * the next call.
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

/**
 * Reads to the end. A read of a file with many entries returns only whole entries, and at most one memory page, so a
 * short read does not mean the end.
 */
const readToEnd = (file: number): Buffer => {
  let length = 0;
  for (;;) {
    const count = readSync(file, buffer, length, buffer.length - length, null);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * length);
  }
};

/** Returns the trimmed text of a file of any length. Null if the file does not exist. */
export const readKernelText = (path: string): string | null =>
  readOrNull(() => readFileSync(path, 'utf8').replaceAll('\0', '').trim() || null);

/** Returns the whole number that is the content of a file. Null if there is none. */
export const readKernelNumber = (path: string): number | null => {
  const text = readKernelText(path);
  return text !== null && /^-?\d+$/.test(text) ? Number(text) : null;
};
