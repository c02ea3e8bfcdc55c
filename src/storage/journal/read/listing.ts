import type { LogRecord } from '../format/line.ts';
import { classifyLine, createMatcher, type Match } from '../format/parse.ts';
import { Slice } from '../scheduling.ts';
import { Found } from './found.ts';
import { type Log, readLogBackwards } from './log.ts';

/** Records that were chosen, in the order of the log. */
export interface Listing {
  count: number;
  /** Damaged lines that were skipped on the way. */
  damaged: number;
  /** The records, oldest first; to be read once, before `close`. Throws where a file was cut or deleted meanwhile. */
  records(): AsyncGenerator<LogRecord>;
  /** Releases the files; to be called however far the records were read. */
  close(): Promise<void>;
}

export interface Window {
  /** How many of the last records are looked at. */
  count: number;
  /** The listing is refused where they take up more bytes of the log than this. */
  maxBytes: number;
  maxLineBytes: number;
}

/**
 * Chooses among the last records of the log. Its cost grows with the window, not with the log, and its memory does
 * not grow with either.
 * @throws JournalError `window-too-large`
 */
export const listRecords = async (log: Log, window: Window, match?: Match): Promise<Listing> => {
  const found = new Found();
  try {
    const damaged = window.count > 0 ? await collect(log, window, match, found) : 0;
    await found.finish();
    return { count: found.count, damaged, records: () => found.readRecords(), close: () => found.release() };
  } catch (error) {
    await found.release();
    throw error;
  }
};

/** Fills `found`, newest first; resolves to the number of damaged lines in between. */
const collect = async (
  log: Log,
  { count, maxBytes, maxLineBytes }: Window,
  match: Match | undefined,
  found: Found,
): Promise<number> => {
  const matches = match ? createMatcher(match) : () => true;
  let records = 0;
  let damaged = 0;
  const slice = new Slice();
  for await (const { file, lines } of readLogBackwards(log, maxLineBytes, maxBytes)) {
    for (const line of lines) {
      const kind = classifyLine(line.bytes);
      if (kind === 'damaged') {
        damaged += 1;
      } else if (line.bytes !== undefined && (kind === 'own' || kind === 'foreign')) {
        records += 1;
        if (matches(kind, line.bytes)) found.add(file, line, line.bytes);
        if (records === count) return damaged;
      }
      if (slice.isOver) await slice.giveWay();
    }
  }
  return damaged;
};
