import { overlaps } from '../index/block.ts';
import type { LogIndex } from '../index/log-index.ts';
import type { Summary } from '../index/summary.ts';

const minuteMs = 60_000;

export interface Counting {
  /** The first minute, and the one after the last; minutes since 1970. */
  since: number;
  until: number;
  /** After so many bytes of the log nothing more is read. */
  maxBytes: number;
  /** Gets how many records of a minute have a key; undefined stands for keys beyond those counted separately. */
  add(minute: number, key: string | undefined, count: number): void;
}

/**
 * Counts records by minute and key, in no order; each minute and key may be added several times. Resolves to whether all
 * were counted: the index of the log may not be complete yet.
 */
export const countRecords = async (index: LogIndex, { since, until, maxBytes, add }: Counting): Promise<boolean> => {
  /** Counts what is in memory. */
  const isUnread = ({ times, counted }: Summary): boolean => {
    if (!overlaps(times, since * minuteMs, until * minuteMs)) return false;
    counted?.minutes.forEach(counted.keys, since, until, add);
    return counted === undefined;
  };
  const budget = { left: maxBytes };
  for await (const { index: file, end, readBlocks } of index.openFiles(isUnread, budget)) {
    if (!file.isComplete(end)) {
      for await (const _ of readBlocks()) {
        if (budget.left <= 0) break;
      }
    }
    file.minutes.forEach(file.keys, since, until, add);
    if (budget.left <= 0) return false;
  }
  return true;
};
