import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { codeOf, JournalError, passIfGone } from '../journal/errors.ts';
import { createFreeSpaceCheck } from '../journal/files/free-space.ts';
import { createSync } from '../journal/files/sync.ts';
import { newline } from '../journal/read/backwards.ts';
import { Slice } from '../journal/scheduling.ts';

/** Characters that are written at once. */
const writtenLength = 64 * 1024;

/** In the first line; its number changes with the format. */
const format = 'signalbox state 1';

/** Space that stays free for others. */
const minFreeBytes = 16 * 1024 * 1024;

/**
 * A state as of a seq of its log, as lines: the format and the seq, arrays of changes, and last the number of these lines
 * with a checksum of their bytes. The file is replaced as a whole.
 */
export interface StateFile {
  /** Bytes of the file as it was last read or written. */
  readonly size: number;
  /** Passes each change to `apply` and resolves to the seq; 0 if there is no file. Throws a JournalError `damaged`. */
  read<Change>(apply: (change: Change) => unknown): Promise<number>;
  /** Rejects if the file cannot be written; then the old one is still there. */
  write(seq: number, pieces: Iterable<readonly unknown[]>): Promise<void>;
}

export const createStateFile = (path: string): StateFile => {
  const directory = dirname(path);
  const sync = createSync(true);
  const unfinished = `${path}.new`;
  let size = 0;
  return {
    get size(): number {
      return size;
    },
    read: async (apply) => {
      await rm(unfinished, { force: true });
      const found = await stat(path).catch(passIfGone);
      size = found?.size ?? 0;
      return found ? readState(path, apply) : 0;
    },
    write: async (seq, pieces) => {
      // About as much as the last time is needed.
      await createFreeSpaceCheck(directory, minFreeBytes + size)(0);
      try {
        const file = await open(unfinished, 'w', 0o600);
        try {
          size = await writeState(file, seq, pieces);
          await sync.data(file);
        } finally {
          await file.close();
        }
        await rename(unfinished, path);
      } catch (error) {
        // The log may need the space.
        await rm(unfinished, { force: true }).catch(() => undefined);
        throw error;
      }
      await sync.directory(directory);
    },
  };
};

const readState = async <Change>(path: string, apply: (change: Change) => unknown): Promise<number> => {
  let seq = 0;
  let lines = 0;
  let sum = 0;
  try {
    for await (const line of readLines(path)) {
      const value: unknown = JSON.parse(line.toString());
      if (lines === 0) seq = readHeader(value);
      else if (Array.isArray(value)) for (const change of value) apply(change);
      else {
        const { lines: written, crc } = value as { lines: number; crc: number };
        if (written === lines && crc === sum) return seq;
        break;
      }
      lines += 1;
      sum = crc32(line, sum);
    }
  } catch (error) {
    // The system's errors have a code. Others come from what the lines hold, before their checksum is known.
    if (codeOf(error) !== undefined) throw error;
  }
  throw new JournalError('damaged', `${path} is damaged near line ${lines + 1}`);
};

const readHeader = (value: unknown): number => {
  const { format: found, seq } = value as { format?: unknown; seq?: unknown };
  if (found !== format) throw new SyntaxError(`not ${format}`);
  return Number(seq);
};

/** The lines with their ends. */
async function* readLines(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    let at = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, at)) {
      yield bytes.subarray(at, end + 1);
      at = end + 1;
    }
    rest = bytes.subarray(at);
  }
}

/** Resolves to the number of bytes. */
const writeState = async (file: FileHandle, seq: number, pieces: Iterable<readonly unknown[]>): Promise<number> => {
  const slice = new Slice();
  let lines = 0;
  let sum = 0;
  let size = 0;
  let text = '';
  const add = (value: unknown): void => {
    text += `${JSON.stringify(value)}\n`;
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
  add({ format, seq });
  for (const piece of pieces) {
    add(piece);
    if (text.length > writtenLength) await write();
  }
  await write();
  add({ lines, crc: sum });
  await write();
  return size;
};
