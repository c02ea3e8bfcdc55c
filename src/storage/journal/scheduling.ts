import { setImmediate } from 'node:timers/promises';

/** Runs steps one after the other, in the given order, even if earlier ones fail. */
export type Serially = <T>(step: () => Promise<T>) => Promise<T>;

export const createSerial = (): Serially => {
  let last: Promise<unknown> = Promise.resolve();
  return (step) => {
    const run = last.then(step);
    last = run.catch(() => undefined);
    return run;
  };
};

/** How long a slice is. */
const sliceMs = 4;

/** A share of the event loop's time, for work that is done in many small steps: check `isOver` after each. */
export class Slice {
  #end = performance.now() + sliceMs;

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  /** Lets other work run, then starts the next slice. */
  async giveWay(): Promise<void> {
    await setImmediate();
    this.#end = performance.now() + sliceMs;
  }
}

/** The longest wait for more requests by default: about as long as a sync takes, so it at most doubles the wait for one. */
const syncMs = 1;

/** Fewer than these do not wait for each other. */
const manyRequests = 8;

/**
 * Waits until the requests that come together are there: while each turn of the event loop brings more, or there are
 * fewer than last time, for at most `longestMs`. Clients that got their responses together send their next requests
 * together, and larger batches need less processor time per request.
 */
export const createGathering = (count: () => number, longestMs = syncMs): (() => Promise<void>) => {
  let expected = 0;
  return async () => {
    const end = performance.now() + longestMs;
    let before: number;
    do {
      before = count();
      await setImmediate();
    } while ((count() > before || count() < expected) && performance.now() < end);
    expected = count() < manyRequests ? 0 : count();
  };
};
