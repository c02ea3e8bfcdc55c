import type { LogRecord } from '../format/line.ts';
import { parseRecord } from '../format/parse.ts';
import { Slice } from '../scheduling.ts';
import type { Line } from './backwards.ts';
import type { LogFile } from './log.ts';
import { Runs } from './runs.ts';

/** Lines of up to this many bytes in total are kept; if there are more, all are read again while they are sent. */
const keptBytes = 64 * 1024;

/** The lines that a listing has chosen, added last one first. */
export class Found {
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
    const slice = new Slice();
    for await (const line of this.#readLines()) {
      yield parseRecord(line);
      if (slice.isOver) await slice.giveWay();
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

  async *#readLines(): AsyncGenerator<Buffer> {
    yield* this.#kept.reverse();
    for (const { file, runs } of this.#files.reverse()) {
      yield* runs.readLines(file.read);
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
