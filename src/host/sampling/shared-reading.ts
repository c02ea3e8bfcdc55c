/**
 * Lets callers share one reading: they wait for a reading in progress, and get the last one if it began at most
 * `maxAgeMs` ago. A failed reading is not kept.
 */
export const createSharedReading = <T>(read: () => Promise<T>, maxAgeMs: number): (() => Promise<T>) => {
  let latest: Promise<T> | undefined;
  let expiresAt = 0;
  return () => {
    const now = performance.now();
    if (latest && now < expiresAt) return latest;
    latest = read();
    expiresAt = Number.POSITIVE_INFINITY;
    latest.then(
      () => {
        expiresAt = now + maxAgeMs;
      },
      () => {
        latest = undefined;
      },
    );
    return latest;
  };
};
