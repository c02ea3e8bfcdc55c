import { createRange, type Range, widen } from './block.ts';
import type { FileIndex } from './file-index.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** What a closed file holds. */
export interface Summary {
  seqs: Range;
  times: Range;
  idTimes: Range;
  hasOldIds: boolean;
  /** What is counted in it; only of the files of the last day, where it is asked for most. */
  counted: Pick<FileIndex, 'minutes' | 'keys'> | undefined;
}

/** The summary of a file whose index is complete. */
export const summarize = ({ blocks, minutes, keys }: FileIndex): Summary => {
  const summary = { seqs: createRange(), times: createRange(), idTimes: createRange(), hasOldIds: false };
  for (const block of blocks) {
    widen(summary.seqs, block.seqs);
    widen(summary.times, block.times);
    widen(summary.idTimes, block.idTimes);
    summary.hasOldIds ||= block.hasOldIds;
  }
  const isRecent = summary.times.max > Date.now() - dayMs;
  return { ...summary, counted: isRecent ? { minutes, keys } : undefined };
};

/** Forgets the counts of a file that is no longer of the last day. */
export const age = (summary: Summary): void => {
  if (summary.times.max <= Date.now() - dayMs) summary.counted = undefined;
};
