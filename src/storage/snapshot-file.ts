import { createReadStream } from 'node:fs';
import { type FileHandle, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { parseJson } from '../lib/parse-json.ts';
import { Slice } from '../lib/slice.ts';
import { MiB } from '../lib/units.ts';
import { passIfGone } from './journal/errors.ts';
import { createFreeSpaceCheck, createSync } from './journal/files.ts';
import { newline } from './journal/read/lines.ts';
import { replaceBy, unfinishedEnding } from './replaced-file.ts';
import { salvage } from './salvage.ts';
import type { OnDamage, ProjectionSnapshot } from './snapshot.ts';

/** Receives the progress of reading: bytes read, and size of the file. */
type OnRead = (done: number, total: number) => void;

/** Number of characters per write. */
const writtenLength = 64 * 1024;

/** First line of the file. The number in it changes with the format. */
const format = 'signalbox state 1';

/** Default number of bytes of disk space to leave free. */
const defaultFreeBytes = 16 * MiB;

interface SnapshotFileOptions {
  /** Bytes of disk space to leave free. */
  minFreeBytes?: number | undefined;
  /** Converts an entry to JSON. */
  toJson?(entry: unknown): string;
  onRead?: OnRead | undefined;
}

/**
 * Creates a snapshot stored in a file of lines: format and seq, then arrays of entries, and finally the number of these
 * lines and a checksum of their bytes. The file is replaced as a whole. A failure leaves the old file. Damaged parts
 * are skipped.
 */
export const createSnapshotFile = (
  path: string,
  { minFreeBytes = defaultFreeBytes, toJson = JSON.stringify, onRead }: SnapshotFileOptions = {},
): ProjectionSnapshot => {
  const directory = dirname(path);
  const sync = createSync(true);
  let size = 0;
  return {
    get size(): number {
      return size;
    },
    read: async (restore, onDamage) => {
      await rm(path + unfinishedEnding, { force: true });
      const found = await stat(path).catch(passIfGone);
      size = found?.size ?? 0;
      return found ? readEntries(path, restore, onDamage, (done) => onRead?.(done, found.size)) : 0;
    },
    write: async (seq, entries) => {
      // The new snapshot needs about as much space as the last snapshot.
      await createFreeSpaceCheck(directory, minFreeBytes + size)(0);
      await replaceBy(path, async (file) => {
        size = await writeEntries(file, seq, entries, toJson);
        // Some disks report bytes as written that they do not have. The log is deleted next, so the size is checked.
        const found = await file.stat();
        if (found.size !== size) throw new Error(`the new ${path} has ${found.size} bytes of ${size}`);
      });
      await sync.directory(directory);
    },
  };
};

/** Reads the entries. Resolves to the seq. Undefined if the seq is unreadable. */
const readEntries = async (
  path: string,
  restore: (entry: unknown) => void,
  onDamage: OnDamage,
  onRead: (bytes: number) => void,
): Promise<number | undefined> => {
  let bytes = 0;
  let seq: number | undefined;
  let lines = 0;
  let sum = 0;
  let isWhole = true;
  let end: { lines: number; crc: number } | undefined;
  for await (const line of readLines(createReadStream(path, { highWaterMark: MiB }))) {
    const value = parseJson(line.toString());
    bytes += line.length;
    onRead(bytes);
    if (lines === 0 && isHeader(value)) seq = value.seq;
    else if (lines > 0 && Array.isArray(value)) for (const entry of value) restore(entry);
    else if (lines > 0 && isEnd(value)) {
      end = value;
      break;
    } else {
      isWhole = false;
      onDamage(`${path} is damaged near line ${lines + 1}`);
      // A line written by 1.1.0 has many entries.
      for (const entry of salvage(line.toString())) restore(entry);
    }
    lines += 1;
    sum = crc32(line, sum);
  }
  if (isWhole && (end?.lines !== lines || end.crc !== sum)) onDamage(`${path} is damaged near line ${lines + 1}`);
  return seq;
};

const isHeader = (value: unknown): value is { seq: number } => {
  const { format: found, seq } = (value ?? {}) as { format?: unknown; seq?: unknown };
  return found === format && Number.isSafeInteger(seq);
};

const isEnd = (value: unknown): value is { lines: number; crc: number } => typeof Object(value).crc === 'number';

/** Writes the entries. Resolves to the number of bytes. */
const writeEntries = async (
  file: FileHandle,
  seq: number,
  pieces: Iterable<readonly unknown[]>,
  toJson: (entry: unknown) => string,
): Promise<number> => {
  const slice = new Slice();
  let lines = 0;
  let sum = 0;
  let size = 0;
  let text = '';
  const add = (json: string): void => {
    text += `${json}\n`;
    lines += 1;
  };
  const write = async (): Promise<void> => {
    // `crc32` of no bytes is 0, whatever the previous sum was.
    if (text === '') return;
    const bytes = Buffer.from(text);
    text = '';
    await file.appendFile(bytes);
    sum = crc32(bytes, sum);
    size += bytes.length;
    if (slice.isOver) await slice.giveWay();
  };
  add(JSON.stringify({ format, seq }));
  for (const piece of pieces) {
    // Each entry has its own line, so that damage affects only one entry.
    for (const entry of piece) {
      add(`[${toJson(entry)}]`);
      if (text.length > writtenLength) await write();
    }
  }
  await write();
  add(JSON.stringify({ lines, crc: sum }));
  await write();
  return size;
};

/**
 * Yields the lines of a byte stream, including their line ends. The last line may lack one. Throws a RangeError for an
 * overlong line.
 */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let at = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, at)) {
      const line = chunk.subarray(at, end + 1);
      yield parts.length === 0 ? line : Buffer.concat([...parts, line]);
      parts = [];
      length = 0;
      at = end + 1;
    }
    if (at === chunk.length) continue;
    parts.push(chunk.subarray(at));
    length += chunk.length - at;
    if (length > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
