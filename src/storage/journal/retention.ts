import { stat, unlink } from 'node:fs/promises';
import type { FileNames } from './files.ts';
import type { Settings } from './options.ts';

export const dayMs = 24 * 60 * 60 * 1000;

type Limits = Pick<Settings, 'retainSegments' | 'retainBytes' | 'retainDays'>;

/** Keeps segments that somebody has not read yet, longer than the limits do. */
export interface Hold {
  /** The seq up to which everything was read. */
  from(): number;
  /** The most bytes of closed segments that are kept for this; those that the limits keep count. */
  maxBytes: number;
  /** Called with the last seq of a segment that is deleted next although not all of it was read. */
  onDropped(lastSeq: number): void;
}

interface Segment {
  path: string;
  bytes: number;
  ageMs: number;
}

/**
 * Deletes closed segments, oldest first, until the rest is within the limits or held; resolves to the files that were
 * deleted. One that cannot be deleted is tried again the next time.
 */
export const removeOldSegments = async (
  names: FileNames,
  limits: Limits,
  holds: readonly Hold[] = [],
  findLastSeq: (path: string) => Promise<number> = async () => 0,
): Promise<string[]> => {
  const numbers = await names.listClosed();
  const readings = await Promise.allSettled(numbers.map((number) => readSegment(names.closed(number))));
  // A segment that cannot be read was probably just deleted.
  const segments = readings.flatMap((reading) => (reading.status === 'fulfilled' ? [reading.value] : []));
  const old = segments.reverse().filter(createOldTest(limits)).reverse();
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const removed: string[] = [];
  for (const segment of old) {
    const lastSeq = holds.length > 0 ? await findLastSeq(segment.path).catch(() => undefined) : 0;
    // What cannot be read at the moment may be needed.
    if (lastSeq === undefined) continue;
    const unread = holds.filter((hold) => lastSeq > hold.from());
    if (unread.some(({ maxBytes }) => bytes <= maxBytes)) continue;
    // Before, since a reader would take what it no longer finds for a gap.
    for (const hold of unread) hold.onDropped(lastSeq);
    if (!(await remove(segment.path))) continue;
    await remove(names.index(segment.path));
    bytes -= segment.bytes;
    removed.push(segment.path);
  }
  return removed;
};

/** Resolves to whether the file was deleted. */
const remove = (path: string): Promise<boolean> =>
  unlink(path).then(
    () => true,
    () => false,
  );

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
