import { setImmediate } from 'node:timers/promises';

/** Milliseconds of a slice: long enough to make progress, short enough not to delay requests noticeably. */
const usualMs = 2;

/** Resolves for the last slice that gave way. */
let lastTurn: Promise<unknown> = Promise.resolve();

/** Resolves in a turn of the event loop in which no other slice begins: many together take no longer than one. */
const awaitTurn = (): Promise<unknown> => {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
};

/** A share of the event loop's time, for work that is done in many small steps: check `isOver` after each. */
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
    // Short ones delay nothing, and what they read has to be there in time.
    await (this.#ms < usualMs ? setImmediate() : awaitTurn());
    this.#end = performance.now() + this.#ms;
  }
}

/**
 * Returns a function that resolves when the next step may begin: steps that become due at the same time begin one after the
 * other, and requests are answered in between.
 */
export const createTurns = (): (() => Promise<void>) => {
  const slice = new Slice();
  let last = Promise.resolve();
  return () => {
    last = last.then(() => (slice.isOver ? slice.giveWay() : undefined));
    return last;
  };
};
