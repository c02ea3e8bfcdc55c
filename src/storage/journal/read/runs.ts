import { type Block, type Line, newline, type ReadAt } from './backwards.ts';

const blockBytes = 64 * 1024;

/** Selected lines of one file. Only the start and end of each run of consecutive lines are kept. */
export class Runs {
  /** Start and end of each run, the last run of the file first. */
  readonly #bounds: number[] = [];

  /** Adds a non-empty line that precedes all lines added so far. */
  add({ start, length }: Line): void {
    const previous = this.#bounds.length - 2;
    if (start + length + 1 === this.#bounds[previous]) {
      this.#bounds[previous] = start;
    } else {
      this.#bounds.push(start, start + length);
    }
  }

  /** Reads the lines on demand, in the order of the file. Throws if the file was truncated meanwhile. */
  async *readLines(read: ReadAt): AsyncGenerator<Buffer> {
    const [, fileEnd = 0] = this.#bounds;
    let block: Block = { start: 0, bytes: Buffer.alloc(0) };
    for (let index = this.#bounds.length - 2; index >= 0; index -= 2) {
      const [start = 0, end = 0] = this.#bounds.slice(index, index + 2);
      for (let at = start; at < end; ) {
        let line = cutLine(block, at, end);
        for (let size = blockBytes; line === undefined; size *= 2) {
          block = await readBlock(read, at, Math.min(at + size, fileEnd));
          line = cutLine(block, at, end);
        }
        yield line;
        at += line.length + 1;
      }
    }
  }
}

/** The line at the offset, in a run up to `end`; undefined if the block does not contain all of it. */
const cutLine = ({ start, bytes }: Block, at: number, end: number): Buffer | undefined => {
  if (at < start) return undefined;
  const run = bytes.subarray(at - start, end - start);
  const length = run.indexOf(newline);
  if (length >= 0) return run.subarray(0, length);
  return run.length === end - at ? run : undefined;
};

const readBlock = async (read: ReadAt, start: number, end: number): Promise<Block> => {
  const bytes = Buffer.allocUnsafe(end - start);
  if ((await read(bytes, start)) < bytes.length) throw new Error('the log was cut while it was read');
  return { start, bytes };
};
