/** Runs steps one at a time in the given order, even if earlier steps fail. */
export type Serially = <T>(step: () => Promise<T>) => Promise<T>;

export const createSerial = (): Serially => {
  let last: Promise<unknown> = Promise.resolve();
  return (step) => {
    const run = last.then(step);
    last = run.catch(() => undefined);
    return run;
  };
};

/**
 * Runs steps with the same key one at a time, in order of arrival. Used for requests with the same `Idempotency-Key`:
 * the first request runs, and each later request waits for the earlier ones and then looks for their stored result. If
 * they have failed, the later request runs itself.
 */
export class InTurn {
  /** Last step for each key, as a promise that never rejects. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the step after all earlier steps that share a key with it. Runs it immediately if there are none. */
  run<T>(keys: readonly string[], step: () => T | Promise<T>): Promise<T> {
    const before = keys.flatMap((key) => this.#last.get(key) ?? []);
    const running = this.#runAfter(before, step);
    const forget = (): void => {
      for (const key of keys) if (this.#last.get(key) === settled) this.#last.delete(key);
    };
    const settled = running.then(forget, forget);
    for (const key of keys) this.#last.set(key, settled);
    return running;
  }

  async #runAfter<T>(before: readonly Promise<unknown>[], step: () => T | Promise<T>): Promise<T> {
    if (before.length > 0) await Promise.all(before);
    return step();
  }
}

/** Resolves to the value of the promise, or to undefined after `ms` milliseconds. */
export const awaitWithin = <T>(ms: number, promise: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  return Promise.race([promise, patience]).finally(() => clearTimeout(timer));
};
