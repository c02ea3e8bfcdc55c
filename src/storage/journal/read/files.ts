import { type FileHandle, open } from 'node:fs/promises';
import type { Serially } from '../../../lib/scheduling.ts';
import { Slice } from '../../../lib/slice.ts';
import { JournalError, passIfGone } from '../errors.ts';
import { classifyLine, parseRecord, parseStored, type StoredRecord } from '../line.ts';

const firstBlockBytes = 16 * 1024;
const blockBytes = 64 * 1024;

/** Lines in a group: a block of blank lines is split in steps, between which other work can run. */
const groupLines = 2048;
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
 * The lines before the offset `end`, last one first, in groups. Memory stays within a block and `maxLineBytes`. Small blocks are
 * read first: a short listing should not read much.
 */
export async function* readLinesBackwards(read: ReadAt, end: number, maxLineBytes: number): AsyncGenerator<Line[]> {
  /** The end of a line whose beginning was not read yet; without its parts if it is too long. */
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
  for await (const [last] of readLinesBackwards(read, end, 0)) if (last) return last.start;
  return 0;
};

/** The records of one block of a file, and where the next block begins. */
export interface ReadBatch {
  records: StoredRecord[];
  end: number;
}

/** Gets what a reader meets in the lines of a log, in their order. */
export interface LineObserver {
  noteSeq(seq: number): void;
  /** A line at this offset holds no record of this log. */
  noteSkipped(offset: number, kind: 'damaged' | 'foreign'): void;
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

/** The records in whole lines that begin at an offset, in their order. */
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

/** The files of the log at one moment. */
export interface LogFiles {
  /** The file that is written to, of which `size` bytes may be read. To be released. */
  active: { handle: FileHandle; retain(): void; release(): Promise<void> };
  size: number;
  /** Paths of the closed segments, newest first. */
  closed: readonly string[];
}

export interface Log {
  takeSnapshot(): LogFiles;
  /** Steps of all readers run one by one. */
  readSerially: Serially;
  /** To be called with the active file and its new path when it is closed. */
  onClosed(listener: (active: LogFiles['active'], path: string) => void): void;
}

/** A file of the log while it is open. */
export interface LogFile {
  /** The path of a closed file; what the log has of the active one. */
  identity: string | LogFiles['active'];
  read: ReadAt;
  /** How many of its bytes may be read. */
  end: number;
  /** Makes `readLater` work after the file is closed, until it is released; that rejects if a closed file was deleted. */
  hold(): void;
  readLater: ReadAt;
  release(): Promise<void>;
}

/**
 * Every line of the log, last one first, as of the first read.
 * @throws JournalError `window-too-large` when more than `maxBytes` would have to be read
 */
export async function* readLogBackwards(
  log: Log,
  maxLineBytes: number,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ file: LogFile; lines: readonly Line[] }> {
  const limit = createByteLimit(maxBytes);
  for await (const file of openLogFiles(log)) {
    for await (const lines of readLinesBackwards(limit(file.read), file.end, maxLineBytes)) yield { file, lines };
  }
}

/**
 * The files, newest or oldest first. A closed file is open only while it is read: a reader that waits for its client has none
 * open. Those that `isWanted` turns down are not opened.
 */
export async function* openLogFiles(
  log: Log,
  isWanted = (_path: string) => true,
  { oldestFirst = false } = {},
): AsyncGenerator<LogFile> {
  const { active, size, closed } = log.takeSnapshot();
  const files = [active, ...closed];
  try {
    for (const file of oldestFirst ? files.reverse() : files) {
      if (file === active) yield toActiveFile(log, active, size);
      else if (typeof file === 'string' && isWanted(file)) yield* openClosed(log, file);
    }
  } finally {
    await active.release();
  }
}

const toActiveFile = (log: Log, active: LogFiles['active'], end: number): LogFile => {
  const read = inTurn(log, toReadAt(active.handle));
  return { identity: active, read, end, hold: active.retain, readLater: read, release: active.release };
};

/** Yields the file unless it is gone: retention, or a person, may delete a segment at any time. */
export async function* openClosed(log: Log, path: string): AsyncGenerator<LogFile> {
  const handle = await open(path, 'r').catch(passIfGone);
  if (!handle) return;
  const readLater = inTurn(log, async (buffer, position) => {
    const again = await open(path, 'r');
    try {
      return await toReadAt(again)(buffer, position);
    } finally {
      await again.close();
    }
  });
  try {
    const [read, { size: end }] = [inTurn(log, toReadAt(handle)), await handle.stat()];
    yield { identity: path, read, end, hold: () => undefined, readLater, release: async () => undefined };
  } finally {
    await handle.close();
  }
}

const inTurn =
  (log: Log, read: ReadAt): ReadAt =>
  (buffer, position) =>
    log.readSerially(() => read(buffer, position));

const createByteLimit = (maxBytes: number): ((read: ReadAt) => ReadAt) => {
  let left = maxBytes;
  return (read) => async (buffer, position) => {
    left -= buffer.length;
    if (left < 0) {
      throw new JournalError('window-too-large', `a listing reads at most ${maxBytes} bytes of the log`);
    }
    return read(buffer, position);
  };
};

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
const createFinder = (): ((lines: readonly Line[]) => number | undefined) => {
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
