import { classifyLine, parseRecord } from '../format/parse.ts';
import { type Log, readLogBackwards } from './log.ts';

/** The search ends after this many bytes of lines without a seq, which another program must have written. */
const searchedBytes = 4 * 1024 * 1024;

/** The last seq in the log; 0 if there is none. */
export const findLastSeq = async (log: Log, maxLineBytes: number): Promise<number> => {
  let searched = 0;
  for await (const { lines } of readLogBackwards(log, maxLineBytes)) {
    for (const { bytes } of lines) {
      const seq = readSeq(bytes);
      searched += bytes?.length ?? 0;
      if (seq > 0 || searched > searchedBytes) return seq;
    }
  }
  return 0;
};

const readSeq = (line: Buffer | undefined): number => {
  const kind = classifyLine(line);
  const isNumbered = line !== undefined && (kind === 'own' || kind === 'mark');
  return isNumbered ? Number(parseRecord(line)['seq'] ?? 0) : 0;
};
