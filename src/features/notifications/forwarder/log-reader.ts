import { Slice } from '../../../lib/slice.ts';
import type { StoredRecord } from '../../../storage/journal/line.ts';
import type { RecordLog } from '../../../storage/record-log.ts';
import { type DeliveryQueue, unexpectedWaitMs } from '../queue/queue.ts';
import type { ReceiverHealth } from '../queue/receiver-health.ts';
import type { Accepts } from './filter.ts';
import { bySeq, type DeliveryProgress } from './progress.ts';
import { type ForwardedAlert, toQueuedAlert } from './queued-alert.ts';
import { ReadRecords, readAlertsFrom } from './records.ts';

interface ReaderParts {
  alerts: Pick<RecordLog, 'readAfter'>;
  accepts: Accepts;
  progress: DeliveryProgress;
  queue: DeliveryQueue<ForwardedAlert>;
  health: ReceiverHealth;
  /** Called after each read, successful or not. */
  onRead(): void;
  onError(err: unknown): void;
}

/** Reads alerts from the log into the queue of a destination until the queue is full. */
export class LogReader {
  /** Last `seq` in the log. */
  stored: number;
  readonly #parts: ReaderParts;
  readonly #records: ReadRecords;
  /** Open alerts that have not been read since startup or must be read again, oldest first. */
  #unread: number[];
  #reading: Promise<void> | undefined;
  /** Delay between a failed read and the next attempt. */
  #pause: NodeJS.Timeout | undefined;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#records = new ReadRecords(parts.alerts);
    this.stored = parts.progress.position;
    this.#unread = [...parts.progress.open.keys()].sort(bySeq);
  }

  /** Starts to read if there is room. Returns true if no read is in progress. */
  start(): boolean {
    if (!this.#reading && this.#hasUnread && !this.#pause) this.#reading = this.#read();
    return this.#reading === undefined;
  }

  /** Reads open alerts again. */
  readAgain(seqs: readonly number[]): void {
    this.#unread = [...this.#unread, ...seqs].sort(bySeq);
  }

  /** Resolves to a record from memory or from the log. Undefined if the log does not contain it. */
  async find(seq: number): Promise<StoredRecord | undefined> {
    return this.#records.take(seq) ?? this.#records.read(seq);
  }

  /** Frees the memory of prefetched records. */
  freeMemory(): void {
    this.#records.clear();
  }

  /** Resolves once no read is in progress. */
  async close(): Promise<void> {
    clearTimeout(this.#pause);
    await this.#reading;
  }

  get #hasUnread(): boolean {
    const { progress, queue } = this.#parts;
    return !queue.waiting.isFull && (this.#unread.length > 0 || progress.position < this.stored);
  }

  /** Reads until the queue is full or the log ends. Never rejects. */
  async #read(): Promise<void> {
    const { queue, onError, onRead } = this.#parts;
    try {
      while (this.#hasUnread && !queue.isClosed) {
        if (this.#unread.length > 0) await this.#readOpen();
        else await this.#readNew();
      }
    } catch (err) {
      onError(err);
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        queue.advance();
      }, unexpectedWaitMs);
    }
    this.#reading = undefined;
    onRead();
  }

  /** Reads open alerts that are close together in the log. */
  async #readOpen(): Promise<void> {
    const { alerts, queue } = this.#parts;
    const [first = 0] = this.#unread;
    const records = await readAlertsFrom(alerts, first);
    const last = records.at(-1)?.seq ?? Number.POSITIVE_INFINITY;
    const found = new Map(records.map((record) => [record.seq, record]));
    const slice = new Slice();
    while (!queue.isClosed && !queue.waiting.isFull && (this.#unread[0] ?? Number.POSITIVE_INFINITY) <= last) {
      const seq = this.#unread.shift() ?? 0;
      this.#addOpen(seq, found.get(seq));
      // Filters can be slow.
      if (slice.isOver) await slice.giveWay();
    }
  }

  #addOpen(seq: number, record: StoredRecord | undefined): void {
    const { accepts, progress, queue } = this.#parts;
    const open = progress.open.get(seq);
    // The alert has been sent on request, or deleted.
    if (!open) return;
    // In a replaced log, another alert may have the same seq.
    if (!record || (open.again && open.again.id !== record.id)) progress.lose(seq);
    else if (!accepts(record)) progress.settle(seq);
    else if (!queue.waiting.has(seq)) queue.waiting.add(toQueuedAlert(record, open));
  }

  /** Reads the alerts after the position of the destination. */
  async #readNew(): Promise<void> {
    const { alerts, accepts, progress, queue, health } = this.#parts;
    const end = this.stored;
    const slice = new Slice();
    for await (const records of alerts.readAfter(progress.position)) {
      for (const record of records) {
        // Retention deleted the alert while this loop paused.
        if (record.seq <= progress.position) continue;
        if (progress.advance(record.seq, accepts(record))) queue.waiting.add(toQueuedAlert(record));
        if (queue.waiting.isFull) break;
        if (slice.isOver) await slice.giveWay();
        if (queue.isClosed) return;
      }
      if (!health.isInTrouble) this.#records.keep(records, queue.waiting);
      if (queue.isClosed || !this.#hasUnread || this.#unread.length > 0) return;
    }
    progress.advance(end, false);
  }
}
