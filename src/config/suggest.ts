/** `; did you mean --port?` if one of the names is similar to the given one, else an empty string. */
export const suggest = (given: string, names: readonly string[], quote = ''): string => {
  const allowed = Math.max(1, Math.floor(normalise(given).length / 4));
  const distances = names.map((name) => ({ name, distance: measure(normalise(given), normalise(name)) }));
  const nearest = distances.sort((a, b) => a.distance - b.distance)[0];
  return nearest && nearest.distance <= allowed ? `; did you mean ${quote}${nearest.name}${quote}?` : '';
};

/** `SIGNALBOX_DATA_DIR`, `--data-dir` and `dataDir` differ only in how words are separated. */
export const normalise = (name: string): string =>
  name
    .replace(/^SIGNALBOX_/i, '')
    .replaceAll(/[-_. ]/g, '')
    .toLowerCase();

/** Edit distance in which swapping two adjacent characters counts as one edit. */
const measure = (from: string, to: string): number => {
  if (Math.abs(from.length - to.length) > Math.max(from.length, 8) / 4) return Number.POSITIVE_INFINITY;
  let [earlier, previous]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const options = [previous[column - 1], previous[column], current[column - 1]].map((value) => Number(value) + 1);
      if (same) options.push(Number(previous[column - 1]));
      if (swapped) options.push(Number(earlier[column - 2]) + 1);
      current.push(Math.min(...options));
    }
    [earlier, previous] = [previous, current];
  }
  return Number(previous[to.length]);
};
