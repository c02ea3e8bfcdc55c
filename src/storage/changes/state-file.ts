import { createReadStream } from 'node:fs';
import { type FileHandle, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { Slice } from '../../slice.ts';
import { passIfGone } from '../journal/errors.ts';
import { createFreeSpaceCheck, createSync } from '../journal/files.ts';
import { newline } from '../journal/read/files.ts';
import { replaceBy, unfinishedEnding } from '../replaced-file.ts';

/** Gets what is damaged, and where, as a clause. */
export type OnDamage = (damage: string) => void;

/** Gets how many bytes of so many are read. */
type OnRead = (done: number, total: number) => void;

/** Characters that are written at once. */
const writtenLength = 64 * 1024;

/** In the first line; its number changes with the format. */
const format = 'signalbox state 1';

const MiB = 1024 * 1024;

/** Space that stays free for others, by default. */
const usualFreeBytes = 16 * MiB;

/**
 * A state as of a seq of its log, as lines: the format and the seq, arrays of changes, and last the number of these lines
 * with a checksum of their bytes. The file is replaced as a whole.
 */
export interface StateFile {
  /** Bytes of the file as it was last read or written. */
  readonly size: number;
  /**
   * Passes each change, as a value of JSON, to `apply` and resolves to the seq; 0 if there is no file. `onDamage` gets each
   * damage; unless it throws, the damaged part is skipped, and a seq that cannot be read is undefined.
   */
  read(apply: (change: unknown) => void, onDamage: OnDamage, onRead?: OnRead): Promise<number | undefined>;
  /** Rejects if the file cannot be written; then the old one is still there. */
  write<Change>(seq: number, pieces: Iterable<readonly Change[]>, toJson?: (change: Change) => string): Promise<void>;
}

export const createStateFile = (path: string, minFreeBytes = usualFreeBytes): StateFile => {
  const directory = dirname(path);
  const sync = createSync(true);
  let size = 0;
  return {
    get size(): number {
      return size;
    },
    read: async (apply, onDamage, onRead) => {
      await rm(path + unfinishedEnding, { force: true });
      const found = await stat(path).catch(passIfGone);
      size = found?.size ?? 0;
      return found ? readState(path, apply, onDamage, (done) => onRead?.(done, found.size)) : 0;
    },
    write: async (seq, pieces, toJson = JSON.stringify) => {
      // About as much as the last time is needed.
      await createFreeSpaceCheck(directory, minFreeBytes + size)(0);
      await replaceBy(path, async (file) => {
        size = await writeState(file, seq, pieces, toJson);
        // Some disks report bytes as written that they have not. The log is deleted after this.
        const found = await file.stat();
        if (found.size !== size) throw new Error(`the new ${path} has ${found.size} bytes of ${size}`);
      });
      await sync.directory(directory);
    },
  };
};

const readState = async (
  path: string,
  apply: (change: unknown) => void,
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
    const value = parseLine(line.toString());
    bytes += line.length;
    onRead(bytes);
    if (lines === 0 && isHeader(value)) seq = value.seq;
    else if (lines > 0 && Array.isArray(value)) for (const change of value) apply(change);
    else if (lines > 0 && isEnd(value)) {
      end = value;
      break;
    } else {
      isWhole = false;
      onDamage(`${path} is damaged near line ${lines + 1}`);
      for (const change of salvage(line.toString())) apply(change);
    }
    lines += 1;
    sum = crc32(line, sum);
  }
  if (isWhole && (end?.lines !== lines || end.crc !== sum)) onDamage(`${path} is damaged near line ${lines + 1}`);
  return seq;
};

/** The value of a line; undefined where it is damaged. */
const parseLine = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const isHeader = (value: unknown): value is { seq: number } => {
  const { format: found, seq } = (value ?? {}) as { format?: unknown; seq?: unknown };
  return found === format && Number.isSafeInteger(seq);
};

const isEnd = (value: unknown): value is { lines: number; crc: number } => typeof Object(value).crc === 'number';

/** The changes in a damaged line that are whole. Within a text of JSON there is no `},{"`. */
const salvage = (line: string): unknown[] =>
  line
    .replace(/^\[|\]\n$/g, '')
    .split(/(?<=\}),(?=\{")/)
    .map(parseLine)
    .filter((change) => typeof change === 'object' && change !== null);

/** Resolves to the number of bytes. */
const writeState = async <Change>(
  file: FileHandle,
  seq: number,
  pieces: Iterable<readonly Change[]>,
  toJson: (change: Change) => string,
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
    // The checksum of no bytes is 0, whatever came before.
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
    add(`[${piece.map(toJson).join(',')}]`);
    if (text.length > writtenLength) await write();
  }
  await write();
  add(JSON.stringify({ lines, crc: sum }));
  await write();
  return size;
};

/** The lines of a stream of bytes, with their ends; the last one may have none. Throws a RangeError for a longer line. */
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
