import type { Metric, Registry } from 'prom-client';
import type { HistogramMeter, Meter, NumberMeter, Sample } from './meters.ts';

/** The type of the text, with the version of the format. */
export const textType = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes the present values of all meters in the text format of Prometheus. */
export const createMetricsText = (list: () => readonly Meter[]): (() => Promise<string>) => {
  let registry: Registry | undefined;
  return async () => {
    registry ??= await createRegistry(list());
    return registry.metrics();
  };
};

/** The library is loaded with the first scrape: startup and memory do not pay for what nobody reads. */
const createRegistry = async (meters: readonly Meter[]): Promise<Registry> => {
  const { Registry } = await import('prom-client');
  const registry = new Registry();
  for (const meter of meters) {
    const { name, help, type } = meter;
    const get = async () => ({ name, help, type, values: await readValues(meter) });
    // The library only calls `get`; its own classes would have to be kept up to date with every request.
    registry.registerMetric({ name, get } as unknown as Metric);
  }
  return registry;
};

interface Value {
  labels: Record<string, string>;
  value: number;
  metricName?: string;
}

const readValues = async (meter: Meter): Promise<Value[]> => {
  if (meter.type === 'histogram') return listBuckets(meter);
  const samples = await readSamples(meter);
  return samples.map(([values, value]) => ({ labels: toLabels(meter.labels, values), value }));
};

/** A reading that fails has no values in this scrape. */
const readSamples = async ({ read }: NumberMeter): Promise<readonly Sample[]> => {
  try {
    return await read();
  } catch {
    return [];
  }
};

/** Prometheus counts in each bucket the values of all smaller ones too. */
const listBuckets = ({ name, labels: names, bounds, read }: HistogramMeter): Value[] =>
  read().flatMap(([values, { counts, sum }]) => {
    const labels = toLabels(names, values);
    let count = 0;
    const buckets = Array.from(counts, (inBucket, index) => {
      count += inBucket;
      const le = index < bounds.length ? String(bounds[index]) : '+Inf';
      return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  });

const toLabels = (names: readonly string[], values: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
