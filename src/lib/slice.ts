import { setImmediate } from 'node:timers/promises';

/** Milliseconds of a slice: long enough to make progress, and short enough not to delay requests noticeably. */
const usualMs = 2;

/** Resolves when the slice that started to wait last has had its turn. */
let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Resolves in a turn of the event loop in which no other slice begins. Many slices together then delay requests no
 * longer than one slice.
 */
const awaitTurn = (): Promise<unknown> => {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
};

/** Share of the event loop's time for work that consists of many small steps. Check `isOver` after each step. */
export class Slice {
  readonly #ms: number;
  #end: number;

  constructor(ms = usualMs) {
    this.#ms = ms;
    this.#end = performance.now() + ms;
  }

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets other work run, then starts the next slice. */
  async giveWay(): Promise<void> {
    // Short slices delay nothing, and their data is needed on time.
    await (this.#ms < usualMs ? setImmediate() : awaitTurn());
    this.#end = performance.now() + this.#ms;
  }
}

/**
 * Creates a function that resolves when the next step may begin. Steps that are due together run one at a time, and
 * requests are answered in between.
 */
export const createWaitForTurn = (): (() => Promise<void>) => {
  const slice = new Slice();
  let last = Promise.resolve();
  return () => {
    last = last.then(() => (slice.isOver ? slice.giveWay() : undefined));
    return last;
  };
};
