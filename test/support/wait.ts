import { setTimeout } from 'node:timers/promises';

const pollMs = 5;

/**
 * Repeats the condition until it holds. If it does not hold within the limit, rejects with an error that names the
 * condition.
 */
export const waitUntil = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> => {
  for (const deadline = performance.now() + limitMs; !(await condition()); await setTimeout(pollMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
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
