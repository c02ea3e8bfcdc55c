import type { FileHandle } from 'node:fs/promises';
import { Slice } from '../../scheduling.ts';
import { classifyLine, type LogRecord, parseRecord } from '../line.ts';

const firstBlockBytes = 16 * 1024;
const largestBlockBytes = 64 * 1024;
export const newline = 0x0a;

/** Fills the buffer with a file's bytes from the offset on; resolves to the number of bytes read. */
export type ReadAt = (buffer: Buffer, position: number) => Promise<number>;

export const toReadAt =
  (handle: FileHandle): ReadAt =>
  async (buffer, position) =>
    (await handle.read(buffer, 0, buffer.length, position)).bytesRead;

/** A line of a file, without its newline. */
export interface Line {
  /** Offset of its first byte. */
  start: number;
  length: number;
  /** Undefined if the line is longer than the limit. */
  bytes: Buffer | undefined;
}

/** Bytes of a file from the offset `start` on. */
export interface FilePart {
  start: number;
  bytes: Buffer;
}

/**
 * The lines before the offset `end`, last one first, in groups; consume each group before you ask for the next. Memory
 * stays within a block and `maxLineBytes`.
 */
export async function* readLinesBackwards(
  read: ReadAt,
  end: number,
  maxLineBytes: number,
): AsyncGenerator<Iterable<Line>> {
  let rest = new Rest(end, maxLineBytes);
  const split = function* ({ start, bytes }: FilePart): Generator<Line> {
    let unread = bytes;
    for (let at = unread.lastIndexOf(newline); at >= 0; at = unread.lastIndexOf(newline)) {
      rest.prepend(unread.subarray(at + 1));
      yield rest.toLine();
      unread = unread.subarray(0, at);
      rest = new Rest(start + at, maxLineBytes);
    }
    rest.prepend(unread);
  };
  for await (const block of readBlocksBackwards(read, end)) {
    yield split(block);
  }
  yield [rest.toLine()];
}

/** The lines in a part of a file that begins and ends with whole lines, last one first. */
export function* splitBackwards(bytes: Buffer): Generator<Buffer> {
  for (let end = bytes.length; end > 0; ) {
    const start = end > 1 ? bytes.lastIndexOf(newline, end - 2) + 1 : 0;
    yield bytes.subarray(start, bytes[end - 1] === newline ? end - 1 : end);
    end = start;
  }
}

/** The offset after the last newline before `end`; 0 where there is none. */
export const findLastLineEnd = async (read: ReadAt, end: number): Promise<number> => {
  for await (const { start, bytes } of readBlocksBackwards(read, end)) {
    const at = bytes.lastIndexOf(newline);
    if (at >= 0) return start + at + 1;
  }
  return 0;
};

/** Small blocks first: a short listing should not read much. */
async function* readBlocksBackwards(read: ReadAt, end: number): AsyncGenerator<FilePart> {
  let size = firstBlockBytes;
  for (let position = end; position > 0; ) {
    const start = Math.max(0, position - size);
    const buffer = Buffer.allocUnsafe(position - start);
    yield { start, bytes: buffer.subarray(0, await read(buffer, start)) };
    position = start;
    size = Math.min(size * 2, largestBlockBytes);
  }
}

/** The end of a line whose beginning has not been read yet. */
class Rest {
  readonly #end: number;
  readonly #maxBytes: number;
  #length = 0;
  #parts: Buffer[] = [];

  constructor(end: number, maxBytes: number) {
    this.#end = end;
    this.#maxBytes = maxBytes;
  }

  prepend(part: Buffer): void {
    this.#length += part.length;
    this.#parts = this.#length > this.#maxBytes ? [] : [part, ...this.#parts];
  }

  toLine(): Line {
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    return {
      start: this.#end - this.#length,
      length: this.#length,
      bytes: this.#length > this.#maxBytes ? undefined : bytes,
    };
  }
}

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
