import { setImmediate } from 'node:timers/promises';

/** Long enough to make progress, short enough that a request in between does not notice. */
const sliceMs = 0.25;

/**
 * Like `Array.map` for work that is quick for each item but long in sum: gives way to other work every
 * quarter of a millisecond. Items for which `map` returns null are left out.
 */
export const mapInSlices = async <T, R>(items: readonly T[], map: (item: T) => R | null): Promise<R[]> => {
  const results: R[] = [];
  let sliceEnd = performance.now() + sliceMs;
  for (const item of items) {
    if (performance.now() >= sliceEnd) {
      await setImmediate();
      sliceEnd = performance.now() + sliceMs;
    }
    const result = map(item);
    if (result !== null) {
      results.push(result);
    }
  }
  return results;
};
