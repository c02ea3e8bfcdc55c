import { stat, unlink } from 'node:fs/promises';
import type { Settings } from '../options.ts';
import type { FileNames } from './names.ts';

export const dayMs = 24 * 60 * 60 * 1000;

type Limits = Pick<Settings, 'retainSegments' | 'retainBytes' | 'retainDays'>;

interface Segment {
  path: string;
  bytes: number;
  ageMs: number;
}

/**
 * Deletes closed segments, oldest first, until the rest is within the limits; resolves to the deleted files. A segment
 * that cannot be deleted is tried again the next time.
 */
export const removeOldSegments = async (names: FileNames, limits: Limits): Promise<string[]> => {
  const numbers = await names.listClosed();
  const readings = await Promise.allSettled(numbers.map((number) => readSegment(names.closed(number))));
  // A segment that cannot be read was probably just deleted.
  const segments = readings.flatMap((reading) => (reading.status === 'fulfilled' ? [reading.value] : []));
  const old = segments.reverse().filter(createOldTest(limits)).reverse();
  const results = await Promise.allSettled(old.map(({ path }) => unlink(path)));
  return old.map(({ path }) => path).filter((_, index) => results[index]?.status === 'fulfilled');
};

const readSegment = async (path: string): Promise<Segment> => {
  const { size, mtimeMs } = await stat(path);
  return { path, bytes: size, ageMs: Date.now() - mtimeMs };
};

/** Called for each segment, newest first. */
const createOldTest = ({ retainSegments, retainBytes, retainDays }: Limits): ((s: Segment) => boolean) => {
  let count = 0;
  let total = 0;
  return ({ bytes, ageMs }) => {
    count += 1;
    total += bytes;
    return isOver(count, retainSegments) || isOver(total, retainBytes) || isOver(ageMs, retainDays * dayMs);
  };
};

const isOver = (value: number, limit: number): boolean => limit > 0 && value > limit;
