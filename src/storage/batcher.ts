import { setImmediate } from 'node:timers/promises';

/** Number of items from which a batch counts as large. The batch after a large one waits for equally many items. */
const manyItems = 8;

export interface BatchLimits {
  /** Maximum number and total size of unsettled items. A single item is always accepted. */
  maxCount: number;
  maxSize: number;
  /** Maximum size of a batch, and maximum number of its items. A single item may be larger. */
  batchSize: number;
  batchCount?: number;
  /** Maximum milliseconds that a batch waits for more items: about as long as a commit takes. */
  gatherMs: number;
}

const ignore = (): void => undefined;

/** Item that waits for its batch, with a promise of the item's result. */
export class Waiting<Item, Result> {
  readonly item: Item;
  readonly size: number;
  readonly count: number;
  readonly promise: Promise<Result>;
  #resolve: (result: Result) => void = ignore;
  #reject: (error: Error) => void = ignore;
  #leave: ((waiting: Waiting<Item, Result>) => void) | undefined;

  constructor(item: Item, size: number, count: number, leave: (waiting: Waiting<Item, Result>) => void) {
    this.item = item;
    this.size = size;
    this.count = count;
    this.#leave = leave;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isSettled(): boolean {
    return this.#leave === undefined;
  }

  resolve(result: Result): void {
    this.#settle();
    this.#resolve(result);
  }

  reject(error: Error): void {
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#leave?.(this);
    this.#leave = undefined;
  }
}

/**
 * Commits waiting items in batches, one batch at a time. Items that arrive during a commit form the next batch. The
 * number and total size of unsettled items are limited.
 */
export class Batcher<Item, Result> {
  readonly #limits: BatchLimits;
  readonly #commit: (batch: readonly Waiting<Item, Result>[]) => Promise<void>;
  readonly #leave = (waiting: Waiting<Item, Result>): void => {
    this.#count -= waiting.count;
    this.#size -= waiting.size;
  };
  #queue: Waiting<Item, Result>[] = [];
  #count = 0;
  #size = 0;
  #running: Promise<void> | undefined;
  /** Number of items in the last batch if it was large, otherwise 0. */
  #expected = 0;

  /**
   * Creates a batcher. `commit` settles the items of a batch. If `commit` throws, the remaining items are rejected with
   * its error.
   */
  constructor(limits: BatchLimits, commit: (batch: readonly Waiting<Item, Result>[]) => Promise<void>) {
    this.#limits = limits;
    this.#commit = commit;
  }

  /** Number of unsettled items, including the items in the current batch. */
  get count(): number {
    return this.#count;
  }

  /** Total size of the unsettled items. */
  get size(): number {
    return this.#size;
  }

  /** Number of items that are not in a batch yet. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Promise that resolves when no item is waiting and no batch is being committed. Undefined while idle. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  /** Adds an item. One item may count as several. Returns undefined if the queue is full. */
  add(item: Item, size: number, count = 1): Waiting<Item, Result> | undefined {
    const { maxCount, maxSize } = this.#limits;
    if (this.#count > 0 && (this.#count + count > maxCount || this.#size + size > maxSize)) return undefined;
    const waiting = new Waiting(item, size, count, this.#leave);
    this.#count += count;
    this.#size += size;
    this.#queue.push(waiting);
    this.start();
    return waiting;
  }

  /** Starts to commit waiting items, or an empty batch. Does nothing if a batch is already being committed. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Rejects the items that are not in a batch yet. */
  rejectQueued(error: Error): void {
    for (const waiting of this.#queue.splice(0)) waiting.reject(error);
  }

  async #run(): Promise<void> {
    try {
      do {
        if (this.#limits.gatherMs > 0) await this.#gather();
        const batch = this.#take();
        try {
          await this.#commit(batch);
        } catch (error) {
          for (const waiting of batch) waiting.reject(error as Error);
        }
      } while (this.#queue.length > 0);
    } finally {
      this.#running = undefined;
    }
  }

  /**
   * Waits while each turn of the event loop brings more items, or while there are fewer items than in the last batch.
   * Clients that got responses together send their next requests together. Larger batches need less CPU time per
   * item.
   */
  async #gather(): Promise<void> {
    const end = performance.now() + this.#limits.gatherMs;
    let before: number;
    do {
      before = this.#queue.length;
      await setImmediate();
    } while ((this.#queue.length > before || this.#queue.length < this.#expected) && performance.now() < end);
    this.#expected = this.#queue.length < manyItems ? 0 : this.#queue.length;
  }

  /** Takes the oldest items for a batch. Returns those that are still unsettled. */
  #take(): Waiting<Item, Result>[] {
    const { batchSize, batchCount = Number.POSITIVE_INFINITY } = this.#limits;
    let taken = 0;
    let size = 0;
    for (const waiting of this.#queue) {
      size += waiting.size;
      if (taken === batchCount || (taken > 0 && size > batchSize)) break;
      taken += 1;
    }
    return this.#queue.splice(0, taken).filter(({ isSettled }) => !isSettled);
  }
}
