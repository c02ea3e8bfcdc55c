import { createSerial } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

type ReadableAlerts = Pick<RecordLog, 'readAfter'>;

/** Returns records from the seq on, as many as are read at a time; none at the end of the log. */
export const readAlertsFrom = async (alerts: ReadableAlerts, seq: number): Promise<readonly StoredRecord[]> => {
  for await (const records of alerts.readAfter(seq - 1)) return records;
  return [];
};

/** Most records in memory, and most blocks of 64 KiB that they may take up. */
const mostKept = { records: 10_000, blocks: 128 };

/** Records that were read ahead, so that few are read twice. */
export class ReadRecords {
  readonly #alerts: ReadableAlerts;
  readonly #serially = createSerial();
  readonly #kept = new Map<number, StoredRecord>();
  /** Blocks of the kept records; a taken record counts as the average. */
  #blocks = 0;
  /** Last block that was read for a single record. */
  #block = new Map<number, StoredRecord>();

  constructor(alerts: ReadableAlerts) {
    this.#alerts = alerts;
  }

  /** Keeps the records of a block that wait, if there is room. */
  keep(records: readonly StoredRecord[], waiting: { has(seq: number): boolean }): void {
    if (this.#kept.size >= mostKept.records || this.#blocks >= mostKept.blocks) return;
    for (const record of records) if (waiting.has(record.seq)) this.#kept.set(record.seq, record);
    this.#blocks = this.#kept.size === 0 ? 0 : this.#blocks + 1;
  }

  clear(): void {
    this.#kept.clear();
    this.#blocks = 0;
  }

  /** Removes and returns a record in memory; undefined for another one. */
  take(seq: number): StoredRecord | undefined {
    const record = this.#kept.get(seq);
    if (record) {
      this.#blocks -= this.#blocks / this.#kept.size;
      this.#kept.delete(seq);
    }
    return record ?? this.#block.get(seq);
  }

  /** Resolves to a record of the log; to undefined if the log does not contain it. */
  read(seq: number): Promise<StoredRecord | undefined> {
    return this.#serially(async () => {
      // The read before may have included this record.
      if (!this.#block.has(seq)) {
        const records = await readAlertsFrom(this.#alerts, seq);
        this.#block = new Map(records.map((record) => [record.seq, record]));
      }
      return this.#block.get(seq);
    });
  }
}
