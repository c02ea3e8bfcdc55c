import type { LogRecord } from '../format/line.ts';
import { classifyLine, parseRecord } from '../format/parse.ts';
import { Slice } from '../scheduling.ts';
import { newline, type ReadAt } from './backwards.ts';

/** A record that was written here. */
export type StoredRecord = LogRecord & { id: string; seq: number };

const blockBytes = 64 * 1024;

/** The records of one block of a file, and where the next block begins. */
export interface Batch {
  records: StoredRecord[];
  /** How many lines were skipped. */
  skipped: number;
  end: number;
}

/**
 * The records in the lines from `start`, where a line begins, to `end`, oldest first. Lines that were not written here, are
 * damaged or too long are skipped.
 */
export async function* readForward(
  read: ReadAt,
  start: number,
  end: number,
  maxLineBytes: number,
): AsyncGenerator<Batch> {
  const slice = new Slice();
  let size = blockBytes;
  let isSkipping = false;
  for (let at = start; at < end; ) {
    const block = Buffer.allocUnsafe(Math.min(size, end - at));
    const bytes = block.subarray(0, await read(block, at));
    if (bytes.length === 0) return;
    const isLast = at + bytes.length >= end;
    // The last line may have no newline.
    const whole = bytes.lastIndexOf(newline) + 1 || (isLast ? bytes.length : 0);
    if (whole > 0) {
      const lines = isSkipping ? bytes.subarray(bytes.indexOf(newline) + 1, whole) : bytes.subarray(0, whole);
      const { records, skipped } = await parseLines(lines, slice);
      yield { records, skipped: skipped + (isSkipping ? 1 : 0), end: at + whole };
      isSkipping = false;
      at += whole;
      size = blockBytes;
    } else if (isSkipping || size > maxLineBytes) {
      isSkipping = true;
      at += bytes.length;
    } else {
      size *= 2;
    }
  }
}

/** The records in whole lines, in their order, and how many other lines there are, except blank ones and marks. */
const parseLines = async (bytes: Buffer, slice: Slice): Promise<Pick<Batch, 'records' | 'skipped'>> => {
  const records: StoredRecord[] = [];
  let skipped = 0;
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(newline, at);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(at, end);
    const record = toStored(line);
    if (record) records.push(record);
    else if (!/^(mark|blank)$/.test(classifyLine(line))) skipped += 1;
    at = end + 1;
    if (slice.isOver) await slice.giveWay();
  }
  return { records, skipped };
};

/** The record in a line; undefined where it was not written here or is damaged. */
export const toStored = (line: Buffer | undefined): StoredRecord | undefined => {
  if (line === undefined || classifyLine(line) !== 'own') return undefined;
  const record = parseRecord(line);
  return typeof record['id'] === 'string' && typeof record['seq'] === 'number' ? (record as StoredRecord) : undefined;
};
