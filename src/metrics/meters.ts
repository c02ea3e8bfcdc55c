/** Label values of a meter, in the order of its labels, and its value. */
export type Sample = readonly [labels: readonly string[], value: number];

interface MeterBase {
  /** Name in the style of Prometheus: with base units, and with `_total` at the end for a counter. */
  name: string;
  help: string;
  labels: readonly string[];
}

type Reading = readonly Sample[] | number;

/** Counter or gauge. `read` is called when metrics are scraped. It returns a plain number if there are no labels. */
export interface NumberMeter extends MeterBase {
  type: 'counter' | 'gauge';
  read(): Reading | Promise<Reading>;
}

export interface HistogramMeter extends MeterBase {
  type: 'histogram';
  /** Upper bounds of the buckets, ascending. */
  bounds: readonly number[];
  read(): readonly [labels: readonly string[], distribution: Distribution][];
}

export type Meter = NumberMeter | HistogramMeter;

/** Number that hot code paths increase: `cell.value += 1`. */
export interface Cell {
  value: number;
}

/** Counts of observed values, by bucket. */
export class Distribution {
  readonly #bounds: readonly number[];
  /** Counts by bucket. The last bucket is for values above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
  }
}

export type Meters = ReturnType<typeof createMeters>;

/**
 * Creates the registry of meters. Counting is a plain addition, and numbers become text only when metrics are scraped.
 * `at` returns the same cell for the same label values, so keep the cell on hot paths.
 */
export const createMeters = () => {
  const meters = new Map<string, Meter>();
  const add = (meter: Meter): void => {
    if (meters.has(meter.name)) throw new Error(`the meter ${meter.name} already exists`);
    meters.set(meter.name, meter);
  };
  return {
    list: (): Meter[] => [...meters.values()],
    /** Adds a counter. `initial` has values of its only label that are reported as 0 before their first count. */
    counter: (name: string, help: string, labels: readonly string[], initial: readonly string[] = []) => {
      const { at, entries } = createCells<Cell>(() => ({ value: 0 }));
      const read = () => entries().map(([values, { value }]) => [values, value] as const);
      add({ name, help, labels, type: 'counter', read });
      for (const value of initial) at(value);
      return { at, entries };
    },
    histogram: (name: string, help: string, labels: readonly string[], bounds: readonly number[]) => {
      const { at, entries } = createCells(() => new Distribution(bounds));
      add({ name, help, labels, type: 'histogram', bounds, read: entries });
      return { at };
    },
    /** Adds a counter or gauge whose values are read when metrics are scraped. */
    reading: (
      type: NumberMeter['type'],
      name: string,
      help: string,
      read: NumberMeter['read'],
      labels: readonly string[] = [],
    ): void => add({ name, help, labels, type, read }),
  };
};

/** Creates one cell for each combination of label values, on first use. */
const createCells = <T>(create: () => T) => {
  const cells = new Map<string, [values: readonly string[], cell: T]>();
  return {
    at: (...values: string[]): T => {
      const key = values.join('\0');
      const known = cells.get(key);
      if (known) return known[1];
      const cell = create();
      cells.set(key, [values, cell]);
      return cell;
    },
    entries: () => [...cells.values()],
  };
};
