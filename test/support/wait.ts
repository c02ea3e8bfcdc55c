import { setTimeout } from 'node:timers/promises';

/**
 * Returns the pause before the next check: a tenth of the time so far. Checks without pauses would take the processor
 * from what they wait for.
 */
const toPause = (elapsedMs: number): number => Math.min(Math.max(5, elapsedMs / 10), 100);

/**
 * Repeats the condition until it holds. If it does not hold within the limit, rejects with an error that names the
 * condition.
 */
export const waitUntil = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> => {
  const begin = performance.now();
  while (!(await condition())) {
    const elapsed = performance.now() - begin;
    if (elapsed > limitMs) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await setTimeout(toPause(elapsed));
  }
};

/** Repeats the check until it does not throw, for readings that change in the meantime. Rejects with the last error. */
export const waitUntilPasses = async (check: () => unknown, limitMs = 10_000): Promise<void> => {
  let failure: unknown;
  const passes = async (): Promise<boolean> => {
    try {
      await check();
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  await waitUntil('the check passes', passes, limitMs).catch(() => {
    throw failure;
  });
};

/** Waits until the number has grown by `count`. */
export const waitForMore = (what: string, read: () => number, count: number): Promise<void> => {
  const enough = read() + count;
  return waitUntil(what, () => read() >= enough);
};

/** Waits up to `maxMs`, so that faults hit any point of the server's work. */
export const waitRandomly = (maxMs: number): Promise<void> => setTimeout(Math.random() * maxMs);
