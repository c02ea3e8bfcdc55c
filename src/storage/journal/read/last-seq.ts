import { open } from 'node:fs/promises';
import { classifyLine, parseRecord } from '../format/parse.ts';
import { type Line, readLinesBackwards, toReadAt } from './backwards.ts';
import { type Log, readLogBackwards } from './log.ts';

/** The search ends after this many bytes of lines without a seq, which another program must have written. */
const searchedBytes = 4 * 1024 * 1024;

/** The last seq in the log; 0 if there is none. */
export const findLastSeq = async (log: Log, maxLineBytes: number): Promise<number> => {
  const find = createFinder();
  for await (const { lines } of readLogBackwards(log, maxLineBytes)) {
    const seq = find(lines);
    if (seq !== undefined) return seq;
  }
  return 0;
};

/** The last seq in a closed segment, 0 where it holds none. */
export const findLastSeqIn = async (path: string, maxLineBytes: number): Promise<number> => {
  const handle = await open(path, 'r');
  try {
    const find = createFinder();
    for await (const lines of readLinesBackwards(toReadAt(handle), (await handle.stat()).size, maxLineBytes)) {
      const seq = find(lines);
      if (seq !== undefined) return seq;
    }
    return 0;
  } finally {
    await handle.close();
  }
};

/** To be called with lines, last one first, until it returns a seq, or 0 where it gives up. */
const createFinder = (): ((lines: Iterable<Line>) => number | undefined) => {
  let searched = 0;
  return (lines) => {
    for (const { bytes } of lines) {
      const seq = readSeq(bytes);
      searched += bytes?.length ?? 0;
      if (seq > 0 || searched > searchedBytes) return seq;
    }
    return undefined;
  };
};

const readSeq = (line: Buffer | undefined): number => {
  const kind = classifyLine(line);
  const isNumbered = line !== undefined && (kind === 'own' || kind === 'mark');
  return isNumbered ? Number(parseRecord(line)['seq'] ?? 0) : 0;
};
