/** The index of the first entry from `start` on that does not come before what is looked for; those that do are the first ones. */
export const bisect = <T>(entries: readonly T[], isBefore: (entry: T) => boolean, start = 0): number => {
  let [low, high] = [start, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(entries[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
};
