import type { HistogramMeter, Meter, NumberMeter, Sample } from './meters.ts';

/** The type of the text, with the version of the format. */
export const textType = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes the present values of all meters in the text format of Prometheus. */
export const createMetricsText = (list: () => readonly Meter[]) => async (): Promise<string> =>
  (await Promise.all(list().map(toText))).join('\n');

const toText = async (meter: Meter): Promise<string> => {
  const { name, help, type, labels } = meter;
  const lines =
    meter.type === 'histogram'
      ? listBuckets(meter)
      : (await readSamples(meter)).map(([values, value]) => toLine(name, labels, values, value));
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return [`# HELP ${name} ${escaped}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
};

/** A reading that fails has no values in this scrape. */
const readSamples = async ({ read }: NumberMeter): Promise<readonly Sample[]> => {
  try {
    const values = await read();
    return typeof values === 'number' ? [[[], values]] : values;
  } catch {
    return [];
  }
};

/** Prometheus counts in each bucket the values of all smaller ones too. */
const listBuckets = ({ name, labels, bounds, read }: HistogramMeter): string[] =>
  read().flatMap(([values, { counts, sum }]) => {
    let count = 0;
    const buckets = Array.from(counts, (inBucket, index) => {
      count += inBucket;
      const bound = toNumber(bounds[index] ?? Number.POSITIVE_INFINITY);
      return toLine(`${name}_bucket`, [...labels, 'le'], [...values, bound], count);
    });
    return [...buckets, toLine(`${name}_sum`, labels, values, sum), toLine(`${name}_count`, labels, values, count)];
  });

const toLine = (name: string, labels: readonly string[], values: readonly string[], value: number): string => {
  const pairs = labels.map((label, index) => `${label}="${escapeValue(values[index] ?? '')}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${toNumber(value)}`;
};

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const toNumber = (value: number): string => String(value).replace(/^(-?)Infinity$/, (_, sign) => `${sign || '+'}Inf`);
