import type { History } from 'signalbox/client';

type Values = (number | null)[];

/** Columns of readings, with one value per time and null for missing values. */
export interface Samples {
  /** Seconds since 1970, ascending. */
  times: number[];
  /** Values by name: `cpu`, `memory`, `disk /`, `alerts error`, … */
  columns: Record<string, Values>;
}

/** Time spans of charts in seconds. */
export const spans = { live: 600, day: 86_400 } as const;
export type Span = keyof typeof spans;

export const noSamples: Samples = { times: [], columns: {} };

/** Merges samples in order of time. At equal times, `later` wins. Samples older than `seconds` are dropped. */
export const merge = (before: Samples, later: Samples, seconds: number): Samples => {
  const rows = new Map([
    ...before.times.map((time, at): [number, Row] => [time, { from: before, at }]),
    ...later.times.map((time, at): [number, Row] => [time, { from: later, at }]),
  ]);
  const all = [...rows.keys()].sort((a, b) => a - b);
  const end = all.at(-1) ?? 0;
  const times = all.filter((time) => time > end - seconds);
  const names = new Set([...Object.keys(before.columns), ...Object.keys(later.columns)]);
  const columns = [...names].map((name): [string, Values] => [
    name,
    times.map((time) => {
      const row = rows.get(time);
      return row?.from.columns[name]?.[row.at] ?? null;
    }),
  ]);
  return { times, columns: Object.fromEntries(columns) };
};

/** Values at a single time. */
interface Row {
  from: Samples;
  at: number;
}

/** Converts the server's history to percentages and rates. */
export const toSamples = (history: History): Samples => {
  const { step, start, count, cpu, memoryUsed, memoryTotal, load, networkReceived, networkSent, alerts } = history;
  const first = Math.round(Date.parse(start) / 1000);
  const columns: Record<string, Values> = {
    cpu: cpu.map((share) => share && share * 100),
    memory: toPercent(memoryUsed, memoryTotal),
    load,
    received: networkReceived,
    sent: networkSent,
  };
  for (const { mountPath, used, total } of history.disks) columns[`disk ${mountPath}`] = toPercent(used, total);
  for (const [level, values] of Object.entries(alerts)) columns[`alerts ${level}`] = values;
  return { times: Array.from({ length: count }, (_, index) => first + index * step), columns };
};

const toPercent = (used: Values, total: Values): Values =>
  used.map((value, index) => {
    const whole = total[index];
    return value === null || !whole ? null : (value / whole) * 100;
  });

/** Adds up values over longer steps, to give bars a visible width. */
export const sumUp = ({ times, columns }: Samples, names: string[], seconds: number): Samples => {
  const first = Math.floor((times[0] ?? 0) / seconds);
  const count = times.length === 0 ? 0 : Math.floor((times.at(-1) ?? 0) / seconds) - first + 1;
  const sums = names.map((name): [string, Values] => {
    const summed = Array.from({ length: count }, () => 0);
    for (const [index, value] of (columns[name] ?? []).entries()) {
      const at = Math.floor((times[index] ?? 0) / seconds) - first;
      summed[at] = (summed[at] ?? 0) + (value ?? 0);
    }
    return [name, summed];
  });
  return {
    times: Array.from({ length: count }, (_, index) => (first + index) * seconds),
    columns: Object.fromEntries(sums),
  };
};
