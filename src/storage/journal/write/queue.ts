import { JournalError } from '../errors.ts';
import { lineEndBytes } from '../format/line.ts';

/** The identity of a record in the log. */
export interface Appended {
  id: string;
  /** One higher for each record; a gap means that records in between failed and were not acknowledged. */
  seq: number;
}

/** A record that waits for its line to be on disk. */
export interface Pending {
  id: string;
  start: string;
  bytes: number;
  resolve(appended: Appended): void;
  reject(error: JournalError): void;
}

/** Records in order of arrival, limited in count and bytes. Records that were taken count until they are settled. */
export class Queue {
  readonly #maxCount: number;
  readonly #maxBytes: number;
  #waiting: Pending[] = [];
  #count = 0;
  #bytes = 0;

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Settles with the record; rejects at once with `queue-full`. */
  add(id: string, start: string): Promise<Appended> {
    const bytes = Buffer.byteLength(start) + lineEndBytes;
    if (this.#count + 1 > this.#maxCount || this.#bytes + bytes > this.#maxBytes) {
      return Promise.reject(new JournalError('queue-full', 'too many records wait for the disk'));
    }
    this.#count += 1;
    this.#bytes += bytes;
    const leave = (): void => {
      this.#count -= 1;
      this.#bytes -= bytes;
    };
    // One promise per record, for speed.
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        id,
        start,
        bytes,
        resolve: (appended) => {
          leave();
          resolve(appended);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      });
    });
  }

  /** Takes the oldest records that fit into `maxBytes` together; at least one if the queue is not empty. */
  take(maxBytes: number): Pending[] {
    let total = 0;
    const end = this.#waiting.findIndex(({ bytes }, index) => {
      total += bytes;
      return index > 0 && total > maxBytes;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  rejectAll(error: JournalError): void {
    for (const pending of this.#waiting.splice(0)) {
      pending.reject(error);
    }
  }
}
