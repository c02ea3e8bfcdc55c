import { stat, unlink } from 'node:fs/promises';
import type { Settings } from '../options.ts';
import type { FileNames } from './names.ts';

const dayMs = 24 * 60 * 60 * 1000;

type Limits = Pick<Settings, 'retainSegments' | 'retainBytes' | 'retainDays'>;

interface Segment {
  path: string;
  bytes: number;
  ageMs: number;
}

/**
 * Deletes closed segments, oldest first, until the rest keeps to the limits; answers the files that went. One
 * that cannot be deleted stays until the next time and stops nothing.
 */
export const removeOldSegments = async (names: FileNames, limits: Limits): Promise<string[]> => {
  const numbers = await names.listClosed();
  const segments = await Promise.all(numbers.map((number) => readSegment(names.closed(number))));
  const old = segments.reverse().filter(createOldTest(limits)).reverse();
  const results = await Promise.allSettled(old.map(({ path }) => unlink(path)));
  return old.map(({ path }) => path).filter((_, index) => results[index]?.status === 'fulfilled');
};

const readSegment = async (path: string): Promise<Segment> => {
  const { size, mtimeMs } = await stat(path);
  return { path, bytes: size, ageMs: Date.now() - mtimeMs };
};

/** Asked for one segment after the other, newest first. */
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
