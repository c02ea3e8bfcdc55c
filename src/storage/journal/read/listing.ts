import { Slice } from '../../../lib/slice.ts';
import { classifyLine, createMatcher, isFeatureEventLine, type LogRecord, type Match, parseRecord } from '../line.ts';
import { type FilePart, type Line, type Log, type LogFile, newline, type ReadAt, readLogBackwards } from './files.ts';

/** Records that were chosen, in the order of the log. */
export interface Listing {
  count: number;
  /** Number of damaged lines that were skipped. */
  damaged: number;
  /** The records, oldest first; read them once, before `close`. Throws if a file was truncated or deleted meanwhile. */
  records(): AsyncGenerator<LogRecord>;
  /** Releases the files; always call it, even if not all records were read. */
  close(): Promise<void>;
}

/** A listing of files. */
interface FileListing extends Listing {
  /** Whether its records take up little memory. */
  isShort: boolean;
}

interface Window {
  /** How many of the last records to search. */
  count: number;
  /** The listing is refused if they take up more bytes of the log than this. */
  maxBytes: number;
  maxLineBytes: number;
}

/**
 * Selects matches among the last records of the log. The cost depends on the window and not on the size of the log;
 * memory depends on neither.
 * @throws JournalError `window-too-large`
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

/** Fills `found`, newest first. */
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

/** Lines of up to this many bytes in total are kept; if there are more, all are read again while they are sent. */
const keptBytes = 64 * 1024;

/** The lines that a listing has chosen, added last one first. */
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
      // A copy: a slice would keep the whole block in memory.
      this.#kept.push(Buffer.from(bytes));
    } else {
      this.#kept = [];
    }
    this.#runsOf(file).add(line);
  }

  /** The records, oldest first. Throws if a file was truncated or deleted after its lines were added. */
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

  /** Called when all lines are added: releases the files if they need not be read again. */
  async finish(): Promise<void> {
    if (this.isKept) await this.release();
  }

  async release(): Promise<void> {
    for (const { file } of this.#files.splice(0)) {
      await file.release();
    }
  }

  /** Whether they are in memory. */
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

/** The line at the offset, in a run up to `end`; undefined if the block does not contain all of it. */
const cutLine = ({ start, bytes }: FilePart, at: number, end: number): Buffer | undefined => {
  if (at < start) return undefined;
  const run = bytes.subarray(at - start, end - start);
  const length = run.indexOf(newline);
  if (length >= 0) return run.subarray(0, length);
  return run.length === end - at ? run : undefined;
};

const readBlock = async (read: ReadAt, start: number, end: number): Promise<FilePart> => {
  const bytes = Buffer.allocUnsafe(end - start);
  if ((await read(bytes, start)) < bytes.length) throw new Error('the log was cut while it was read');
  return { start, bytes };
};
