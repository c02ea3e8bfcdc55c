import type { FileHandle } from 'node:fs/promises';
import { Slice } from '../../../lib/slice.ts';
import { classifyLine, parseRecord, parseStored, type StoredRecord } from '../line.ts';

const firstBlockBytes = 16 * 1024;
const blockBytes = 64 * 1024;

/** Maximum number of lines in a group. Splits large blocks of blank lines, so that other work can run in between. */
const groupLines = 2048;
export const newline = 0x0a;

/** Fills the buffer with the bytes of a file from an offset onwards. Resolves to the number of bytes read. */
export type ReadAt = (buffer: Buffer, position: number) => Promise<number>;

export const toReadAt =
  (handle: FileHandle): ReadAt =>
  async (buffer, position) =>
    (await handle.read(buffer, 0, buffer.length, position)).bytesRead;

/** Line of a file, without its newline. */
export interface Line {
  /** Offset of the first byte of the line. */
  start: number;
  length: number;
  /** Bytes of the line. Undefined if it exceeds the limit. */
  bytes: Buffer | undefined;
}

/** Bytes of a file from the offset `start` onwards. */
export interface FilePart {
  start: number;
  bytes: Buffer;
}

/**
 * Reads the lines before the offset `end` in groups, last line first. Uses no more memory than a block plus
 * `maxLineBytes`. The first blocks are small, so that a short listing reads little.
 */
export async function* readLinesBackwards(read: ReadAt, end: number, maxLineBytes: number): AsyncGenerator<Line[]> {
  /** End of a line that has not been read to its start yet. Empty if the line is overlong. */
  let parts: Buffer[] = [];
  let length = 0;
  const prepend = (part: Buffer): void => {
    length += part.length;
    parts = length > maxLineBytes ? [] : [part, ...parts];
  };
  const takeLine = (start: number): Line => {
    const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    const line = { start, length, bytes: length > maxLineBytes ? undefined : bytes };
    parts = [];
    length = 0;
    return line;
  };
  let size = firstBlockBytes;
  for (let position = end; position > 0; ) {
    const start = Math.max(0, position - size);
    const block = Buffer.allocUnsafe(position - start);
    let unread = block.subarray(0, await read(block, start));
    let lines: Line[] = [];
    for (let at = unread.lastIndexOf(newline); at >= 0; at = unread.lastIndexOf(newline)) {
      prepend(unread.subarray(at + 1));
      lines.push(takeLine(start + at + 1));
      if (lines.length === groupLines) {
        yield lines;
        lines = [];
      }
      unread = unread.subarray(0, at);
    }
    prepend(unread);
    yield lines;
    position = start;
    size = Math.min(size * 2, blockBytes);
  }
  yield [takeLine(0)];
}

/** Yields the lines in a part of a file, last line first. The part must begin and end with whole lines. */
export function* splitBackwards(bytes: Buffer): Generator<Buffer> {
  for (let end = bytes.length; end > 0; ) {
    const start = end > 1 ? bytes.lastIndexOf(newline, end - 2) + 1 : 0;
    yield bytes.subarray(start, bytes[end - 1] === newline ? end - 1 : end);
    end = start;
  }
}

/** Resolves to the offset after the last newline before `end`. 0 without a newline. */
export const findLastLineEnd = async (read: ReadAt, end: number): Promise<number> => {
  for await (const [last] of readLinesBackwards(read, end, 0)) if (last) return last.start;
  return 0;
};

/** Records in one block of a file. */
export interface ReadBatch {
  records: StoredRecord[];
  /** Offset of the next block. */
  end: number;
}

/** Observer of lines. Called in reading order. */
export interface LineObserver {
  noteSeq(seq: number): void;
  /** Called for a line that does not contain a record of this log. */
  noteSkipped(offset: number, kind: 'damaged' | 'foreign'): void;
}

/**
 * Reads the records in the lines from `start` to `end`, oldest first. `start` must be the start of a line. Skips
 * foreign, damaged and overlong lines.
 */
export async function* readForward(
  read: ReadAt,
  start: number,
  end: number,
  maxLineBytes: number,
  observer: LineObserver,
): AsyncGenerator<ReadBatch> {
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
      if (isSkipping) observer.noteSkipped(at, 'damaged');
      yield { records: await parseLines(lines, at + whole - lines.length, observer, slice), end: at + whole };
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

/** Parses whole lines that begin at an offset. Resolves to their records. */
const parseLines = async (
  bytes: Buffer,
  offset: number,
  observer: LineObserver,
  slice: Slice,
): Promise<StoredRecord[]> => {
  const records: StoredRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(newline, at);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(at, end);
    const record = parseStored(line);
    if (record) records.push(record);
    observeLine(line, record, offset + at, observer);
    at = end + 1;
    if (slice.isOver) await slice.giveWay();
  }
  return records;
};

const observeLine = (line: Buffer, record: StoredRecord | undefined, offset: number, observer: LineObserver): void => {
  if (record) {
    observer.noteSeq(record.seq);
    return;
  }
  const kind = classifyLine(line);
  if (kind === 'mark') observer.noteSeq(readSeq(line));
  else if (kind !== 'blank') observer.noteSkipped(offset, kind === 'foreign' ? kind : 'damaged');
};

/** Returns the seq of an `own` line or a mark. 0 for any other line. */
export const readSeq = (line: Buffer | undefined): number => {
  const kind = classifyLine(line);
  const isNumbered = line !== undefined && (kind === 'own' || kind === 'mark');
  return isNumbered ? Number(parseRecord(line)['seq'] ?? 0) : 0;
};
