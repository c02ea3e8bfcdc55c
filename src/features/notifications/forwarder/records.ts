import { createSerial } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

type ReadableAlerts = Pick<RecordLog, 'readAfter'>;

/** Returns one batch of records that begins at `seq`. Empty at the end of the log. */
export const readAlertsFrom = async (alerts: ReadableAlerts, seq: number): Promise<readonly StoredRecord[]> => {
  for await (const records of alerts.readAfter(seq - 1)) return records;
  return [];
};

/** Limits of the records in memory: number of records, and number of 64 KiB blocks from which they come. */
const mostKept = { records: 10_000, blocks: 128 };

/** Records that were read in advance, so that few records have to be read twice. */
export class ReadRecords {
  readonly #alerts: ReadableAlerts;
  readonly #serially = createSerial();
  readonly #kept = new Map<number, StoredRecord>();
  /** Number of blocks occupied by the records in memory. A removed record counts as average-sized. */
  #blocks = 0;
  /** Last block that was read for a single record. */
  #block = new Map<number, StoredRecord>();

  constructor(alerts: ReadableAlerts) {
    this.#alerts = alerts;
  }

  /** Stores the waiting records of a block if there is room. */
  keep(records: readonly StoredRecord[], waiting: { has(seq: number): boolean }): void {
    if (this.#kept.size >= mostKept.records || this.#blocks >= mostKept.blocks) return;
    for (const record of records) if (waiting.has(record.seq)) this.#kept.set(record.seq, record);
    this.#blocks = this.#kept.size === 0 ? 0 : this.#blocks + 1;
  }

  clear(): void {
    this.#kept.clear();
    this.#blocks = 0;
  }

  /** Removes and returns a record from memory. Undefined if it is not in memory. */
  take(seq: number): StoredRecord | undefined {
    const record = this.#kept.get(seq);
    if (record) {
      this.#blocks -= this.#blocks / this.#kept.size;
      this.#kept.delete(seq);
    }
    return record ?? this.#block.get(seq);
  }

  /** Resolves to a record from the log. Undefined if the log does not contain it. */
  read(seq: number): Promise<StoredRecord | undefined> {
    return this.#serially(async () => {
      // The previous read may have included this record.
      if (!this.#block.has(seq)) {
        const records = await readAlertsFrom(this.#alerts, seq);
        this.#block = new Map(records.map((record) => [record.seq, record]));
      }
      return this.#block.get(seq);
    });
  }
}
