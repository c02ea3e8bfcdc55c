import type { LogRecord, Match, StoredRecord } from './line.ts';

/** How many characters of lines are kept at most. */
const keptLength = 1024 * 1024;

/** Records that are read from the disk at once to be kept. */
export const filledCount = 100;

/** A record whose line is parsed when somebody reads it. */
interface RecentLine {
  line: string;
  record?: StoredRecord;
}

/**
 * The last records of a log, in memory: readers that keep up with the log need no disk. They are its end without a gap:
 * whatever else may have changed the files clears them.
 */
export class RecentRecords {
  readonly #maxCount: number;
  #lines: RecentLine[] = [];
  #length = 0;
  /** The seq of the first one; each later one's is one higher. */
  #firstSeq = 0;
  /** Whether the log has no record before these. */
  #isAll = false;
  /** The list that was read last, until a record is added. */
  #list: { count: number; records: readonly StoredRecord[] } | undefined;
  #version = 0;

  /** `maxCount` is how many records are kept at most. */
  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  /** Changes whenever one is added, and whenever they are cleared. */
  get version(): number {
    return this.#version;
  }

  /** Adds the line of a record that was just stored. */
  add(seq: number, line: string): void {
    if (this.#maxCount === 0) return;
    if (seq !== this.#firstSeq + this.#lines.length) {
      this.clear();
      this.#firstSeq = seq;
    }
    this.#version += 1;
    this.#list = undefined;
    this.#lines.push({ line });
    this.#length += line.length;
    // Half of them at once, so that each is moved at most once.
    if (this.#lines.length > this.#maxCount || this.#length > keptLength) this.#drop(this.#lines.length >> 1);
  }

  /** Takes over the last records of the log, `isAll` if it has no others; ignored if they are not without gaps. */
  fill(records: readonly LogRecord[], nextSeq: number, isAll: boolean): void {
    const firstSeq = nextSeq - records.length;
    if (records.length > this.#maxCount || this.#maxCount === 0) return;
    if (records.some(({ seq }, index) => seq !== firstSeq + index)) return;
    this.clear();
    this.#firstSeq = firstSeq;
    this.#isAll = isAll;
    this.#lines = records.map((record) => ({ line: JSON.stringify(record), record: record as StoredRecord }));
    this.#length = this.#lines.reduce((sum, { line }) => sum + line.length, 0);
  }

  /** Forgets all of them, because the files may have changed. */
  clear(): void {
    this.#version += 1;
    this.#list = undefined;
    this.#lines = [];
    this.#length = 0;
    this.#firstSeq = 0;
    this.#isAll = false;
  }

  /** Those of the last `count` records of the log that match, oldest first; undefined if some of them are not here. */
  list(count: number, match?: Match): readonly LogRecord[] | undefined {
    if (count > this.#lines.length && !this.#isAll) return undefined;
    if (this.#list?.count !== count) {
      this.#list = { count, records: this.#lines.slice(Math.max(0, this.#lines.length - count)).map(toRecord) };
    }
    const { records } = this.#list;
    return match ? records.filter((record) => record[match.field] === match.value) : records;
  }

  /** The records after a seq, oldest first; undefined if some of them are not here. */
  after(seq: number): StoredRecord[] | undefined {
    if (this.#lines.length === 0 || seq + 1 < this.#firstSeq) return undefined;
    return this.#lines.slice(seq + 1 - this.#firstSeq).map(toRecord);
  }

  #drop(count: number): void {
    for (const { line } of this.#lines.splice(0, count)) this.#length -= line.length;
    this.#firstSeq += count;
    this.#isAll = false;
  }
}

const toRecord = (recent: RecentLine): StoredRecord => {
  recent.record ??= JSON.parse(recent.line) as StoredRecord;
  return recent.record;
};
