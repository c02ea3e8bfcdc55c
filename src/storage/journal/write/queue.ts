import { JournalError } from '../errors.ts';
import { lineEndBytes } from '../format/line.ts';

/** The identity of a record in the log. */
export interface Appended {
  id: string;
  /** One higher for each record; a gap means that records in between failed and were not acknowledged. */
  seq: number;
}

/** A record, or a group of records, that waits for its lines to be on disk. */
export interface Pending {
  /** The lines up to their ids. */
  starts: readonly string[];
  bytes: number;
  /** To be called with the seq of the first line. */
  resolve(firstSeq: number): void;
  reject(error: JournalError): void;
}

/** The bytes of whole lines, of which these are the starts. */
export const countBytes = (starts: readonly string[]): number =>
  starts.reduce((sum, start) => sum + Buffer.byteLength(start) + lineEndBytes, 0);

/** Records in order of arrival, bounded in count and bytes. Those taken count until they are settled. */
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

  /** Records that wait or were taken and are not settled. */
  get count(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Settles with the lines, which are taken together: resolves to what `toResult` makes of the first one's seq; rejects
   * at once with `queue-full`.
   */
  add<T>(starts: readonly string[], toResult: (firstSeq: number) => T): Promise<T> {
    const bytes = countBytes(starts);
    // A group larger than the limit finds room when nothing else waits.
    const isFull = this.#count + starts.length > Math.max(this.#maxCount, starts.length);
    if (isFull || this.#bytes + bytes > this.#maxBytes) {
      return Promise.reject(new JournalError('queue-full', 'too many records wait for the disk'));
    }
    this.#count += starts.length;
    this.#bytes += bytes;
    const leave = (): void => {
      this.#count -= starts.length;
      this.#bytes -= bytes;
    };
    // One promise per record, for speed.
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        starts,
        bytes,
        resolve: (firstSeq) => {
          leave();
          resolve(toResult(firstSeq));
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
