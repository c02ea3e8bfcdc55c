/**
 * Binary search: index of the first entry, from `start` onwards, for which `isBefore` is false. `isBefore` must be true
 * for all entries before it.
 */
export const bisect = <T>(entries: readonly T[], isBefore: (entry: T) => boolean, start = 0): number => {
  let [low, high] = [start, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(entries[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
};
