import { alertsAt, columnCount, disksAt, Ring } from './ring.ts';

/** Adds up rows: takes means of measurements and sums of alerts. */
export const createSums = () => {
  const sums = new Float64Array(columnCount);
  const counts = new Float64Array(columnCount);
  let rows = 0;
  return {
    get isEmpty(): boolean {
      return rows === 0;
    },
    add: (row: ArrayLike<number>): void => {
      rows += 1;
      for (let column = 0; column < columnCount; column += 1) {
        const value = row[column] as number;
        if (Number.isNaN(value)) continue;
        sums[column] = (sums[column] as number) + value;
        counts[column] = (counts[column] as number) + 1;
      }
    },
    /** The row of all added ones; begins again. */
    take: (): Float64Array => {
      const row = sums.map((sum, column) => {
        if (column >= alertsAt && column < disksAt) return sum;
        return sum / (counts[column] as number);
      });
      sums.fill(0);
      counts.fill(0);
      rows = 0;
      return row;
    },
  };
};

/** The rows of a ring from one time to another, both included, in steps of so many seconds. */
export const toLongerSteps = (
  ring: Ring,
  seconds: number,
  { from, to }: { from: number; to: number },
): { ring: Ring; from: number; to: number } => {
  const longer = new Ring(seconds, Math.floor(to / seconds) - Math.floor(from / seconds) + 1);
  const sums = createSums();
  for (let time = from; time <= to; time += ring.step) {
    const row = ring.read(time);
    if (row) sums.add(row);
    const isLast = time + ring.step > to || longer.align(time + ring.step) !== longer.align(time);
    if (isLast && !sums.isEmpty) longer.set(time, sums.take());
  }
  return { ring: longer, from: longer.align(from), to: longer.align(to) };
};
