import type { StoredRecord } from './journal/line.ts';
import type { RecordLog } from './record-log.ts';

interface Following {
  /** Returns the seq of the last stored record. Undefined until the log is available. */
  lastSeq(): number | undefined;
  /** Returns the seq to begin after. Called once the log is available. */
  from(lastSeq: number): number;
  /** Receives the records in order. If it returns a promise, the next record waits for it. */
  take(record: StoredRecord): Promise<void> | undefined | void;
}

/** Reads new records of a log. */
export class LogFollower {
  readonly #log: RecordLog;
  readonly #following: Following;
  /** Seq of the last record taken. */
  #seq: number | undefined;
  #isReading = false;
  #reading = Promise.resolve();
  #isEnded = false;

  constructor(log: RecordLog, following: Following) {
    this.#log = log;
    this.#following = following;
  }

  /** Resolves when all records stored so far have been taken. After a failed read, the next call tries again. */
  readOn(): Promise<void> {
    if (!this.#isReading) this.#reading = this.#readNew();
    return this.#reading;
  }

  /** Stops taking records. Resolves when the last record has been processed. */
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
      // The next call reads again.
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
