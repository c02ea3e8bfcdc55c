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
