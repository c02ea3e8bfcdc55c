import type { FileHandle } from 'node:fs/promises';

const firstBlockBytes = 16 * 1024;
const largestBlockBytes = 64 * 1024;
export const newline = 0x0a;

/** Fills the buffer with a file's bytes from the offset on; resolves to how many there were. */
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
  /** Undefined where the line is longer than was asked for. */
  bytes: Buffer | undefined;
}

/** Bytes of a file from the offset `start` on. */
export interface Block {
  start: number;
  bytes: Buffer;
}

/**
 * The lines before the offset `end`, last one first, some at a time; take all of them before the next ones. Memory
 * stays within a block and `maxLineBytes`.
 */
export async function* readLinesBackwards(
  read: ReadAt,
  end: number,
  maxLineBytes: number,
): AsyncGenerator<Iterable<Line>> {
  let rest = new Rest(end, maxLineBytes);
  const split = function* ({ start, bytes }: Block): Generator<Line> {
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
async function* readBlocksBackwards(read: ReadAt, end: number): AsyncGenerator<Block> {
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
