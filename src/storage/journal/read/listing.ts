import type { SharedHandle } from '../files/shared-handle.ts';
import { type LogRecord, parseKnownLine, parseLine } from '../format/line.ts';
import type { Snapshots } from '../write/segment-store.ts';
import type { Line } from './backwards.ts';
import { type Passage, readLogBackwards } from './log.ts';

/** Records of this many bytes of lines are kept in memory; what is beyond is read again when it is asked for. */
const keptBytes = 8 * 1024 * 1024;

/** Records that were chosen, in the order of the log. */
export interface Listing {
  count: number;
  /** Damaged lines that were passed over on the way. */
  damaged: number;
  /** The records, oldest first; to be read once, before `close`. */
  records(): AsyncGenerator<LogRecord>;
  /** Lets go of the files; needed however far the records were read. */
  close(): Promise<void>;
}

export type Choose = (record: LogRecord) => boolean;

interface Found {
  source: SharedHandle;
  start: number;
  length: number;
  record: LogRecord | undefined;
}

/** Chooses among the last `window` records of the log. Its cost grows with the window, not with the log. */
export const listRecords = async (
  log: Snapshots,
  window: number,
  maxLineBytes: number,
  choose: Choose,
): Promise<Listing> => {
  const found: Found[] = [];
  try {
    const damaged =
      window > 0 ? await collect(readLogBackwards(log, maxLineBytes), window, choose, found) : 0;
    found.reverse();
    return { count: found.length, damaged, records: () => readFound(found), close: () => release(found) };
  } catch (error) {
    await release(found);
    throw error;
  }
};

/** Fills `found`, newest first; answers how many damaged lines were in between. */
const collect = async (
  passages: AsyncIterable<Passage>,
  window: number,
  choose: Choose,
  found: Found[],
): Promise<number> => {
  const seen = { records: 0, damaged: 0, bytes: 0 };
  for await (const { source, lines } of passages) {
    for (const line of lines) {
      const record = parseLine(line.bytes);
      if (record === 'damaged') {
        seen.damaged += 1;
      } else if (record !== 'blank') {
        seen.records += 1;
        if (choose(record)) {
          seen.bytes += line.length;
          found.push(toFound(source, line, seen.bytes > keptBytes ? undefined : record));
        }
        if (seen.records === window) {
          return seen.damaged;
        }
      }
    }
  }
  return seen.damaged;
};

/** A record that is not kept needs its file to stay open. */
const toFound = (source: SharedHandle, { start, length }: Line, record: LogRecord | undefined): Found => {
  if (record === undefined) {
    source.retain();
  }
  return { source, start, length, record };
};

async function* readFound(found: Found[]): AsyncGenerator<LogRecord> {
  for (const { source, start, length, record } of found) {
    yield record ?? (await readAgain(source, start, length));
  }
}

const readAgain = async ({ handle }: SharedHandle, start: number, length: number): Promise<LogRecord> => {
  const { buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
  return parseKnownLine(buffer);
};

const release = async (found: Found[]): Promise<void> => {
  for (const { source, record } of found.splice(0)) {
    if (record === undefined) {
      await source.release();
    }
  }
};
