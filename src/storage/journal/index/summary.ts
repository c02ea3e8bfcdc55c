import { createRange, type Range, widen } from './block.ts';
import type { FileIndex } from './file-index.ts';
import type { Keys } from './keys.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** What a closed file holds. */
export interface Summary {
  seqs: Range;
  times: Range;
  idTimes: Range;
  hasOldIds: boolean;
  /** Records of each minute and key; only of the files of the last day, where they are asked for most. */
  counts: ReadonlyMap<number, number> | undefined;
  keys: Keys;
}

/** The summary of a file whose index is complete. */
export const summarize = ({ blocks, keys }: FileIndex): Summary => {
  const summary = { seqs: createRange(), times: createRange(), idTimes: createRange(), hasOldIds: false };
  for (const block of blocks) {
    widen(summary.seqs, block.seqs);
    widen(summary.times, block.times);
    widen(summary.idTimes, block.idTimes);
    summary.hasOldIds ||= block.hasOldIds;
  }
  const isRecent = summary.times.max > Date.now() - dayMs;
  return { ...summary, counts: isRecent ? sumCounts(blocks) : undefined, keys };
};

/** Forgets the counts of a file that is no longer of the last day. */
export const age = (summary: Summary): void => {
  if (summary.times.max <= Date.now() - dayMs) summary.counts = undefined;
};

const sumCounts = (blocks: FileIndex['blocks']): Map<number, number> => {
  const sums = new Map<number, number>();
  for (const { counts } of blocks) {
    for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return sums;
};
