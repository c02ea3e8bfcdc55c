import type { StoredRecord } from './journal/line.ts';
import type { RecordLog } from './record-log.ts';

interface Following {
  /** The last record that is stored; undefined until the log was reached. */
  lastSeq(): number | undefined;
  /** The record after which to begin, once the log was reached. */
  from(lastSeq: number): number;
  /** Gets each record in order; the next one waits for the promise, if there is one. */
  take(record: StoredRecord): Promise<void> | undefined | void;
}

/** Reads on in a log whenever something was stored. */
export class LogFollower {
  readonly #log: RecordLog;
  readonly #following: Following;
  /** The last record that was taken. */
  #seq: number | undefined;
  #isReading = false;
  #reading = Promise.resolve();
  #isEnded = false;

  constructor(log: RecordLog, following: Following) {
    this.#log = log;
    this.#following = following;
  }

  /** Resolves when all records were taken that are stored now. If they cannot be read, the next call tries again. */
  readOn(): Promise<void> {
    if (!this.#isReading) this.#reading = this.#readNew();
    return this.#reading;
  }

  /** Resolves when no more records are taken. */
  end(): Promise<void> {
    this.#isEnded = true;
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    const { lastSeq, from } = this.#following;
    this.#isReading = true;
    try {
      for (let end = lastSeq(); end !== undefined && !this.#isEnded; end = lastSeq()) {
        this.#seq ??= from(end);
        if (this.#seq >= end) return;
        await this.#takeAfter(this.#seq);
        this.#seq = Math.max(this.#seq, end);
      }
    } catch {
      // Tried again when the next record is stored.
    } finally {
      this.#isReading = false;
    }
  }

  async #takeAfter(seq: number): Promise<void> {
    const recent = this.#log.recentAfter?.(seq);
    for await (const records of recent ? [recent] : this.#log.readAfter(seq)) {
      for (const record of records) {
        if (this.#isEnded) return;
        const room = this.#following.take(record);
        this.#seq = record.seq;
        if (room) await room;
      }
    }
  }
}
