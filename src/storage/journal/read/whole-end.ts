import type { Part } from '../format/line.ts';
import { classifyLine, readPart } from '../format/parse.ts';
import { findLastLineEnd, type ReadAt, readLinesBackwards } from './backwards.ts';

/** The offset before `size` where the last whole line ends that is not of an incomplete group; 0 where there is none. */
export const findWholeEnd = async (read: ReadAt, size: number, maxLineBytes: number): Promise<number> => {
  const lineEnd = await findLastLineEnd(read, size);
  let end = lineEnd;
  /** The part that was cut off last. */
  let cut: Part | undefined;
  for await (const lines of readLinesBackwards(read, lineEnd, maxLineBytes)) {
    for (const { start, bytes } of lines) {
      // Behind the last newline is nothing.
      if (start === lineEnd) continue;
      const part = bytes && classifyLine(bytes) === 'own' ? readPart(bytes) : undefined;
      if (!part || !(cut ? isBefore(part, cut) : part.index < part.count)) return end;
      end = start;
      cut = part;
    }
  }
  return end;
};

const isBefore = (part: Part, next: Part): boolean => part.count === next.count && part.index === next.index - 1;
