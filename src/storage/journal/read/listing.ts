import type { LogRecord } from '../format/line.ts';
import { classifyLine, createMatcher, type Match } from '../format/parse.ts';
import { Slice } from '../scheduling.ts';
import { Found } from './found.ts';
import { type Log, readLogBackwards } from './log.ts';

/** Records that were chosen, in the order of the log. */
export interface Listing {
  count: number;
  /** Number of damaged lines that were skipped. */
  damaged: number;
  /** The records, oldest first; read them once, before `close`. Throws if a file was truncated or deleted meanwhile. */
  records(): AsyncGenerator<LogRecord>;
  /** Releases the files; always call it, even if not all records were read. */
  close(): Promise<void>;
}

/** A listing of files. */
export interface FileListing extends Listing {
  /** Whether its records take up little memory. */
  isShort: boolean;
}

export interface Window {
  /** How many of the last records to search. */
  count: number;
  /** The listing is refused if they take up more bytes of the log than this. */
  maxBytes: number;
  maxLineBytes: number;
}

/**
 * Selects matches among the last records of the log. The cost depends on the window and not on the size of the log;
 * memory depends on neither.
 * @throws JournalError `window-too-large`
 */
export const listRecords = async (log: Log, window: Window, match?: Match): Promise<FileListing> => {
  const found = new Found();
  try {
    const damaged = window.count > 0 ? await collect(log, window, match, found) : 0;
    await found.finish();
    const { count, isKept: isShort } = found;
    return { count, damaged, isShort, records: () => found.readRecords(), close: () => found.release() };
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
