interface Latest<T> {
  startedAt: number;
  value: Promise<T>;
  pending: boolean;
}

/**
 * Lets callers share one reading: callers wait for a reading that is under way, and get the last one while it began at
 * most `maxAgeMs` ago. A failed reading is not kept.
 */
export const createSharedReading = <T>(read: () => Promise<T>, maxAgeMs: number): (() => Promise<T>) => {
  let latest: Latest<T> | undefined;
  return () => {
    if (latest && (latest.pending || performance.now() - latest.startedAt < maxAgeMs)) {
      return latest.value;
    }
    const mine: Latest<T> = { startedAt: performance.now(), value: read(), pending: true };
    latest = mine;
    mine.value.then(
      () => {
        mine.pending = false;
      },
      () => {
        latest = undefined;
      },
    );
    return mine.value;
  };
};
