import { MiB } from '../../lib/units.ts';
import { isFeatureEvent, type LogRecord, type Match, type StoredRecord } from './line.ts';

/** Maximum length in characters of lines in memory. */
const keptLength = MiB;

/** Maximum length of a list that is kept for the next list. */
export const filledCount = 100;

/** Appended record. The first reader converts it to its stored form. */
interface RecentRecord {
  record: LogRecord;
  id: string;
  seq: number;
  /** Length of the line in characters. */
  length: number;
  isStored: boolean;
}

/**
 * Last records of the log, in memory, so that readers that keep up with the log neither read the disk nor parse. The
 * records are the end of the log without gaps. They are cleared if another program changes the files.
 */
export class RecentRecords {
  readonly #maxCount: number;
  #records: RecentRecord[] = [];
  #length = 0;
  /** Seq of the first record. Seqs are consecutive. */
  #firstSeq = 0;
  /** True if the log has no earlier records. */
  #isAll = false;
  /** Last list that was created. Valid until a record is added. */
  #list: { count: number; records: readonly StoredRecord[] } | undefined;
  #version = 0;

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  /** Number that changes whenever a record is added or the records are cleared. */
  get version(): number {
    return this.#version;
  }

  /** Adds a newly stored record. */
  add(added: RecentRecord): void {
    if (this.#maxCount === 0) return;
    const { seq, length } = added;
    if (seq !== this.#firstSeq + this.#records.length) {
      this.clear();
      this.#firstSeq = seq;
    }
    this.#version += 1;
    this.#list = undefined;
    this.#records.push(added);
    this.#length += length;
    // Dropping half of the records at a time moves each record at most once.
    if (this.#records.length > this.#maxCount || this.#length > keptLength) this.#drop(this.#records.length >> 1);
  }

  /** Sets the last records of the log, unless they have gaps. `isAll` is true if the log has no other records. */
  fill(records: readonly LogRecord[], nextSeq: number, isAll: boolean): void {
    const firstSeq = nextSeq - records.length;
    if (records.length > this.#maxCount || this.#maxCount === 0) return;
    if (records.some(({ seq }, index) => seq !== firstSeq + index)) return;
    this.clear();
    this.#firstSeq = firstSeq;
    this.#isAll = isAll;
    this.#records = records.map((record, index) => {
      const { id } = record as StoredRecord;
      return { record, id, seq: firstSeq + index, length: JSON.stringify(record).length, isStored: true };
    });
    this.#length = this.#records.reduce((sum, { length }) => sum + length, 0);
  }

  /** Drops all records. Called if the files may have changed. */
  clear(): void {
    this.#version += 1;
    this.#list = undefined;
    this.#records = [];
    this.#length = 0;
    this.#firstSeq = 0;
    this.#isAll = false;
  }

  /**
   * Returns the matches among the last `count` records that lists include, oldest first. Undefined if some of these
   * records are not in memory.
   */
  list(count: number, match?: Match): readonly LogRecord[] | undefined {
    if (count > this.#records.length && !this.#isAll) return undefined;
    if (this.#list?.count !== count) {
      const start = this.#findStart(count);
      if (start === undefined) return undefined;
      const records = this.#records.slice(start).map(toStoredRecord);
      this.#list = { count, records: records.filter((record) => !isFeatureEvent(record)) };
    }
    const { records } = this.#list;
    return match ? records.filter((record) => record[match.field] === match.value) : records;
  }

  /**
   * Returns the index of the first of the last `count` records that lists include. Undefined if some of them are not in
   * memory.
   */
  #findStart(count: number): number | undefined {
    let listed = 0;
    for (let at = this.#records.length; ; at -= 1) {
      if (listed === count) return at;
      const { record } = this.#records[at - 1] ?? {};
      if (record === undefined) return this.#isAll ? 0 : undefined;
      if (typeof record === 'string' || !isFeatureEvent(record)) listed += 1;
    }
  }

  /** Returns the records after a seq, oldest first. Undefined if some of them are not in memory. */
  after(seq: number): StoredRecord[] | undefined {
    if (this.#records.length === 0 || seq + 1 < this.#firstSeq) return undefined;
    return this.#records.slice(seq + 1 - this.#firstSeq).map(toStoredRecord);
  }

  #drop(count: number): void {
    for (const { length } of this.#records.splice(0, count)) this.#length -= length;
    this.#firstSeq += count;
    this.#isAll = false;
  }
}

const toStoredRecord = (recent: RecentRecord): StoredRecord => {
  const { record, id, seq } = recent;
  if (recent.isStored) return record as StoredRecord;
  // V8 takes ten times as long if the spread comes first.
  const stored = { id, seq, ...record };
  // In the line, id and seq come last.
  stored.id = id;
  stored.seq = seq;
  recent.record = stored;
  recent.isStored = true;
  return stored;
};
