import { isFeatureEvent, type LogRecord, type Match, type StoredRecord } from './line.ts';

/** How many characters of lines are kept at most. */
const keptLength = 1024 * 1024;

/** Records that are read from the disk at once to be kept. */
export const filledCount = 100;

/** A record as it was appended, until the first reader makes it what all of them get. */
interface RecentRecord {
  record: LogRecord;
  id: string;
  seq: number;
  /** Characters of its line. */
  length: number;
  isStored: boolean;
}

/**
 * The last records of a log, in memory: for readers that keep up with the log nothing is read from the disk, or parsed. They
 * are its end without a gap: whatever else may have changed the files clears them.
 */
export class RecentRecords {
  readonly #maxCount: number;
  #records: RecentRecord[] = [];
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

  /** Adds a record that was just stored. */
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
    // Half of them at once, so that each is moved at most once.
    if (this.#records.length > this.#maxCount || this.#length > keptLength) this.#drop(this.#records.length >> 1);
  }

  /** Takes over the last records of the log, `isAll` if it has no others; ignored if they are not without gaps. */
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

  /** Forgets all of them, because the files may have changed. */
  clear(): void {
    this.#version += 1;
    this.#list = undefined;
    this.#records = [];
    this.#length = 0;
    this.#firstSeq = 0;
    this.#isAll = false;
  }

  /** Those of the last `count` listed records of the log that match, oldest first; undefined if some of them are not here. */
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

  /** Where the last `count` listed records begin; undefined if some of them are not here. */
  #findStart(count: number): number | undefined {
    let listed = 0;
    for (let at = this.#records.length; ; at -= 1) {
      if (listed === count) return at;
      const { record } = this.#records[at - 1] ?? {};
      if (record === undefined) return this.#isAll ? 0 : undefined;
      if (typeof record === 'string' || !isFeatureEvent(record)) listed += 1;
    }
  }

  /** The records after a seq, oldest first; undefined if some of them are not here. */
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
  // Spread first, they would take V8 ten times as long.
  const stored = { id, seq, ...record };
  // As in the line, whose last fields these are.
  stored.id = id;
  stored.seq = seq;
  recent.record = stored;
  recent.isStored = true;
  return stored;
};
