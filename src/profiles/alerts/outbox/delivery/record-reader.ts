import type { StoredRecord } from '../../../../storage/journal/read/forward.ts';
import { createSerial } from '../../../../storage/journal/scheduling.ts';
import type { RecordLog } from '../../../../storage/record-log.ts';

/** Reads single records of the log. Those that were last read together stay in memory, because they are often next. */
export class RecordReader {
  readonly #alerts: Pick<RecordLog, 'readAfter'>;
  readonly #serially = createSerial();
  #records = new Map<number, StoredRecord>();

  constructor(alerts: Pick<RecordLog, 'readAfter'>) {
    this.#alerts = alerts;
  }

  /** Keeps records that were read together. */
  keep(records: readonly StoredRecord[]): void {
    this.#records = new Map(records.map((record) => [record.seq, record]));
  }

  /** The record, or undefined if it is not in the log. */
  async read(seq: number): Promise<StoredRecord | undefined> {
    return this.#records.get(seq) ?? this.#serially(() => this.#readFrom(seq));
  }

  async #readFrom(seq: number): Promise<StoredRecord | undefined> {
    // An attempt before this one may have read it.
    const known = this.#records.get(seq);
    if (known) return known;
    for await (const records of this.#alerts.readAfter(seq - 1)) {
      this.keep(records);
      break;
    }
    return this.#records.get(seq);
  }
}
