import { parseLine } from '../format/line.ts';
import type { Snapshots } from '../write/segment-store.ts';
import type { Line } from './backwards.ts';
import { readLogBackwards } from './log.ts';

/** Lines without a seq come from elsewhere; behind more of them than this the numbers begin anew. */
const searchedBytes = 4 * 1024 * 1024;

/** The seq of the last record that has one, 0 where there is none. */
export const findLastSeq = async (log: Snapshots, maxLineBytes: number): Promise<number> => {
  let searched = 0;
  for await (const { lines } of readLogBackwards(log, maxLineBytes)) {
    const seq = findSeq(lines);
    searched += lines.reduce((sum, { length }) => sum + length, 0);
    if (seq > 0 || searched > searchedBytes) {
      return seq;
    }
  }
  return 0;
};

const findSeq = (lines: Line[]): number => {
  for (const { bytes } of lines) {
    const record = parseLine(bytes);
    if (typeof record === 'object' && typeof record['seq'] === 'number') {
      return record['seq'];
    }
  }
  return 0;
};
