import { createSerial } from '../../../lib/scheduling.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';

type ReadableAlerts = Pick<RecordLog, 'readAfter'>;

/** The record with the seq, or the next one, and some after it; none at the end of the log. */
export const readAlertsFrom = async (alerts: ReadableAlerts, seq: number): Promise<readonly StoredRecord[]> => {
  for await (const records of alerts.readAfter(seq - 1)) return records;
  return [];
};

/** As many records are kept, which take up so many blocks of 64 KiB. */
const mostKept = { records: 10_000, blocks: 128 };

/** Records that were read before their turn, so that nearly none is read twice. */
export class ReadRecords {
  readonly #alerts: ReadableAlerts;
  readonly #serially = createSerial();
  readonly #kept = new Map<number, StoredRecord>();
  /** Of those that were taken, the average counts. */
  #blocks = 0;
  /** The block that was read last for one of its records. */
  #block = new Map<number, StoredRecord>();

  constructor(alerts: ReadableAlerts) {
    this.#alerts = alerts;
  }

  /** Keeps those of a block that wait. */
  keep(records: readonly StoredRecord[], waiting: { has(seq: number): boolean }): void {
    if (this.#kept.size >= mostKept.records || this.#blocks >= mostKept.blocks) return;
    for (const record of records) if (waiting.has(record.seq)) this.#kept.set(record.seq, record);
    this.#blocks = this.#kept.size === 0 ? 0 : this.#blocks + 1;
  }

  clear(): void {
    this.#kept.clear();
    this.#blocks = 0;
  }

  /** The record, if it is in memory; it is not kept for longer. */
  take(seq: number): StoredRecord | undefined {
    const record = this.#kept.get(seq);
    if (record) {
      this.#blocks -= this.#blocks / this.#kept.size;
      this.#kept.delete(seq);
    }
    return record ?? this.#block.get(seq);
  }

  /** The record, or undefined if it is not in the log. */
  read(seq: number): Promise<StoredRecord | undefined> {
    return this.#serially(async () => {
      // An attempt before this one may have read it.
      if (!this.#block.has(seq)) {
        const records = await readAlertsFrom(this.#alerts, seq);
        this.#block = new Map(records.map((record) => [record.seq, record]));
      }
      return this.#block.get(seq);
    });
  }
}
