import type { FileHandle } from 'node:fs/promises';

const firstBlockBytes = 16 * 1024;
const largestBlockBytes = 256 * 1024;
const newline = 0x0a;
const noBytes = Buffer.alloc(0);

/** A line of a file, without its newline. */
export interface Line {
  /** Offset of its first byte. */
  start: number;
  length: number;
  /** Undefined where the line is longer than was asked for. */
  bytes: Buffer | undefined;
}

interface Block {
  start: number;
  bytes: Buffer;
}

/**
 * The lines before the offset `end`, last one first, some at a time. Memory stays within a block and
 * `maxLineBytes`.
 */
export async function* readLinesBackwards(
  handle: FileHandle,
  end: number,
  maxLineBytes: number,
): AsyncGenerator<Line[]> {
  let rest = createEmptyLine(end);
  for await (const block of readBlocksBackwards(handle, end)) {
    const lines: Line[] = [];
    let unread = block.bytes;
    for (let at = unread.lastIndexOf(newline); at >= 0; at = unread.lastIndexOf(newline)) {
      lines.push(prepend(unread.subarray(at + 1), rest, maxLineBytes));
      unread = unread.subarray(0, at);
      rest = createEmptyLine(block.start + at);
    }
    rest = prepend(unread, rest, maxLineBytes);
    yield lines;
  }
  yield [rest];
}

/** The offset after the last newline before `end`; 0 where there is none. */
export const findLastLineEnd = async (handle: FileHandle, end: number): Promise<number> => {
  for await (const { start, bytes } of readBlocksBackwards(handle, end)) {
    const at = bytes.lastIndexOf(newline);
    if (at >= 0) {
      return start + at + 1;
    }
  }
  return 0;
};

/** Small blocks first: a short listing should not read much. */
async function* readBlocksBackwards(handle: FileHandle, end: number): AsyncGenerator<Block> {
  let size = firstBlockBytes;
  for (let position = end; position > 0; ) {
    const start = Math.max(0, position - size);
    const buffer = Buffer.allocUnsafe(position - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    yield { start, bytes: buffer.subarray(0, bytesRead) };
    position = start;
    size = Math.min(size * 2, largestBlockBytes);
  }
}

const createEmptyLine = (start: number): Line => ({ start, length: 0, bytes: noBytes });

const prepend = (head: Buffer, { start, length, bytes }: Line, maxLineBytes: number): Line => {
  const total = head.length + length;
  const kept = bytes === undefined || total > maxLineBytes ? undefined : join(head, bytes);
  return { start: start - head.length, length: total, bytes: kept };
};

const join = (head: Buffer, tail: Buffer): Buffer => (tail.length === 0 ? head : Buffer.concat([head, tail]));
