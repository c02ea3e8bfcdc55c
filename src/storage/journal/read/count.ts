import { minuteOf, overlaps, slotOf } from '../index/block.ts';
import type { Keys } from '../index/keys.ts';
import type { LogIndex } from '../index/log-index.ts';
import type { Summary } from '../index/summary.ts';

const minuteMs = 60_000;

export interface Counting {
  /** The first minute, and the one after the last; minutes since 1970. */
  since: number;
  until: number;
  /** After so many bytes of the log nothing more is read. */
  maxBytes: number;
  /** Gets how many records of a minute have a key; undefined stands for keys that are too many to be told apart. */
  add(minute: number, key: string | undefined, count: number): void;
}

/**
 * Counts records by minute and key, newest files first and in no order within; each minute and key may be added several
 * times. Resolves to whether all were counted: the index of the log may not be complete yet.
 */
export const countRecords = async (index: LogIndex, { since, until, maxBytes, add }: Counting): Promise<boolean> => {
  const isWithin = ({ times }: Pick<Summary, 'times'>): boolean => overlaps(times, since * minuteMs, until * minuteMs);
  const addCounts = (counts: ReadonlyMap<number, number>, keys: Keys): void => {
    for (const [countKey, count] of counts) {
      const minute = minuteOf(countKey);
      if (minute >= since && minute < until) add(minute, keys.nameOf(slotOf(countKey)), count);
    }
  };
  /** Counts what is in memory. */
  const isUnread = (summary: Summary): boolean => {
    if (!isWithin(summary)) return false;
    if (summary.counts) addCounts(summary.counts, summary.keys);
    return summary.counts === undefined;
  };
  const budget = { left: maxBytes };
  let isComplete = true;
  for await (const { index: file, readBlocks } of index.openFiles(isUnread, budget)) {
    for await (const _ of readBlocks()) {
      isComplete = budget.left > 0;
      if (!isComplete) break;
    }
    // At once, since readers change the last block while the file grows.
    for (const block of file.blocks) {
      if (isWithin(block)) addCounts(block.counts, file.keys);
    }
    if (!isComplete) break;
  }
  return isComplete;
};
