import { setImmediate } from 'node:timers/promises';

/** Long enough to make progress, short enough not to delay requests noticeably. */
const sliceMs = 0.25;

/** For work in many small steps: check `isOver` after each, and let other work run with `next` if it is. */
export const createTimeSlices = () => {
  let end = performance.now() + sliceMs;
  return {
    isOver: (): boolean => performance.now() >= end,
    next: async (): Promise<void> => {
      await setImmediate();
      end = performance.now() + sliceMs;
    },
  };
};

/**
 * Like `Array.map`, for long lists: lets other work run every quarter of a millisecond. Leaves out items for which
 * `map` returns null.
 */
export const mapInSlices = async <T, R>(items: readonly T[], map: (item: T) => R | null): Promise<R[]> => {
  const results: R[] = [];
  const slices = createTimeSlices();
  for (const item of items) {
    if (slices.isOver()) await slices.next();
    const result = map(item);
    if (result !== null) results.push(result);
  }
  return results;
};
