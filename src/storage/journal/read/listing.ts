import { Slice } from '../../../lib/slice.ts';
import { classifyLine, createMatcher, isFeatureEventLine, type LogRecord, type Match, parseRecord } from '../line.ts';
import { type Log, type LogFile, readLogBackwards } from './files.ts';
import { type FilePart, type Line, newline, type ReadAt } from './lines.ts';

/** Selected records, in log order. */
export interface Listing {
  count: number;
  /** Number of damaged lines skipped. */
  damaged: number;
  /** Reads the records, oldest first. Call it only once, before `close`. Throws if a file was truncated or deleted. */
  records(): AsyncGenerator<LogRecord>;
  /** Releases the files. Always call it, even if not all records were read. */
  close(): Promise<void>;
}

/** Listing of a journal. */
interface FileListing extends Listing {
  /** True if the records take up little memory. */
  isShort: boolean;
}

interface Window {
  /** Number of records to search, counted from the end of the log. */
  count: number;
  /** Maximum number of bytes of the log to read. A listing that would have to read more is refused. */
  maxBytes: number;
  maxLineBytes: number;
}

/**
 * Selects matches among the last records in the log. The cost depends on the number of records searched, not on the
 * size of the log, and memory depends on neither. Throws a JournalError with the code `window-too-large` if too much
 * would have to be read.
 */
export const listRecords = async (
  log: Log,
  window: Window,
  match: Match | undefined,
  onDamaged: (file: LogFile, offset: number) => void,
): Promise<FileListing> => {
  const found = new Found();
  try {
    let damaged = 0;
    const noteDamaged = (file: LogFile, { start }: Line): void => {
      damaged += 1;
      onDamaged(file, start);
    };
    if (window.count > 0) await collect(log, window, match, found, noteDamaged);
    await found.finish();
    const { count, isKept: isShort } = found;
    return { count, damaged, isShort, records: () => found.readRecords(), close: () => found.release() };
  } catch (error) {
    await found.release();
    throw error;
  }
};

/** Adds matches to `found`, newest first. */
const collect = async (
  log: Log,
  { count, maxBytes, maxLineBytes }: Window,
  match: Match | undefined,
  found: Found,
  noteDamaged: (file: LogFile, line: Line) => void,
): Promise<void> => {
  const matches = match ? createMatcher(match) : () => true;
  let records = 0;
  const slice = new Slice();
  for await (const { file, lines } of readLogBackwards(log, maxLineBytes, maxBytes)) {
    for (const line of lines) {
      const kind = classifyLine(line.bytes);
      if (kind === 'damaged') {
        noteDamaged(file, line);
      } else if (
        line.bytes !== undefined &&
        (kind === 'own' || kind === 'foreign') &&
        !isFeatureEventLine(line.bytes)
      ) {
        records += 1;
        if (matches(kind, line.bytes)) found.add(file, line, line.bytes);
        if (records === count) return;
      }
      if (slice.isOver) await slice.giveWay();
    }
  }
};

/**
 * Maximum size of lines kept in memory, in bytes. Beyond this limit, lines are read again while they are being sent.
 */
const keptBytes = 64 * 1024;

/** Selected lines of a listing, added in reverse order. */
class Found {
  #count = 0;
  #bytes = 0;
  #kept: Buffer[] = [];
  #files: { file: LogFile; runs: Runs }[] = [];

  get count(): number {
    return this.#count;
  }

  add(file: LogFile, line: Line, bytes: Buffer): void {
    this.#count += 1;
    this.#bytes += bytes.length;
    if (this.isKept) {
      // Copied, because a slice would keep the whole block in memory.
      this.#kept.push(Buffer.from(bytes));
    } else {
      this.#kept = [];
    }
    this.#runsOf(file).add(line);
  }

  /** Reads the records, oldest first. Throws if a file was truncated or deleted after its lines were added. */
  async *readRecords(): AsyncGenerator<LogRecord> {
    yield* this.#kept.reverse().map(parseRecord);
    const slice = new Slice();
    for (const { file, runs } of this.#files.reverse()) {
      for await (const line of runs.readLines(file.readLater)) {
        yield parseRecord(line);
        if (slice.isOver) await slice.giveWay();
      }
    }
  }

  /** Releases the files once the last line has been added, unless they must be read again. */
  async finish(): Promise<void> {
    if (this.isKept) await this.release();
  }

  async release(): Promise<void> {
    for (const { file } of this.#files.splice(0)) {
      await file.release();
    }
  }

  /** True if the lines are in memory. */
  get isKept(): boolean {
    return this.#bytes <= keptBytes;
  }

  #runsOf(file: LogFile): Runs {
    const last = this.#files.at(-1);
    if (last?.file === file) return last.runs;
    file.hold();
    const runs = new Runs();
    this.#files.push({ file, runs });
    return runs;
  }
}

const blockBytes = 64 * 1024;

/** Selected lines of one file, stored as the start and end of each run of consecutive lines. */
export class Runs {
  /** Start and end of each run, last run first. */
  readonly #bounds: number[] = [];

  /** Adds a non-empty line. It must precede all lines added so far. */
  add({ start, length }: Line): void {
    const previous = this.#bounds.length - 2;
    if (start + length + 1 === this.#bounds[previous]) {
      this.#bounds[previous] = start;
    } else {
      this.#bounds.push(start, start + length);
    }
  }

  /** Reads the lines on demand, in file order. Throws if the file was truncated in the meantime. */
  async *readLines(read: ReadAt): AsyncGenerator<Buffer> {
    const [, fileEnd = 0] = this.#bounds;
    let block: FilePart = { start: 0, bytes: Buffer.alloc(0) };
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

/** Returns the line at the offset, in a run that ends at `end`. Undefined if part of the line is not in the block. */
const cutLine = ({ start, bytes }: FilePart, at: number, end: number): Buffer | undefined => {
  if (at < start) return undefined;
  const run = bytes.subarray(at - start, end - start);
  const length = run.indexOf(newline);
  if (length >= 0) return run.subarray(0, length);
  return run.length === end - at ? run : undefined;
};

const readBlock = async (read: ReadAt, start: number, end: number): Promise<FilePart> => {
  const bytes = Buffer.allocUnsafe(end - start);
  if ((await read(bytes, start)) < bytes.length) throw new Error('the log was truncated while it was read');
  return { start, bytes };
};
