import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { HistogramMeter, Meter, Meters, NumberMeter, Sample } from './meters.ts';

/** Content type, including the version of the format. */
export const textType = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes the current values of all meters in Prometheus' text format. */
export const readMetrics = async ({ list }: Pick<Meters, 'list'>): Promise<string> =>
  (await Promise.all(list().map(toMeterText))).join('\n');

const toMeterText = async (meter: Meter): Promise<string> => {
  const { name, help, type, labels } = meter;
  const lines =
    meter.type === 'histogram'
      ? listBuckets(meter)
      : (await readSamples(meter)).map(([values, value]) => toLine(name, labels, values, value));
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return [`# HELP ${name} ${escaped}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
};

/** Reads the samples of a meter. A meter with a failed reading has no values in this scrape. */
const readSamples = async ({ read }: NumberMeter): Promise<readonly Sample[]> => {
  try {
    const values = await read();
    return typeof values === 'number' ? [[[], values]] : values;
  } catch {
    return [];
  }
};

/** Writes cumulative buckets. In Prometheus, each bucket includes the values of all smaller buckets. */
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

const microsecondsPerSecond = 1e6;

/** Adds the process metrics that Prometheus client libraries usually report. */
export const addProcessMeters = ({ reading: add }: Meters): void => {
  const cpu = (name: 'user' | 'system') => process.cpuUsage()[name] / microsecondsPerSecond;
  add('counter', 'process_cpu_user_seconds_total', 'User CPU time of this process.', () => cpu('user'));
  add('counter', 'process_cpu_system_seconds_total', 'System CPU time of this process.', () => cpu('system'));
  add(
    'counter',
    'process_cpu_seconds_total',
    'User and system CPU time of this process.',
    () => cpu('user') + cpu('system'),
  );
  const startedAt = Date.now() / 1000 - process.uptime();
  add('gauge', 'process_start_time_seconds', 'Unix time at which this process was started.', () => startedAt);
  add('gauge', 'process_resident_memory_bytes', 'Resident memory of this process.', () => process.memoryUsage.rss());
  add('gauge', 'nodejs_heap_size_used_bytes', 'Used part of the heap.', () => process.memoryUsage().heapUsed);
  add(
    'counter',
    'nodejs_eventloop_active_seconds_total',
    'Time in which the event loop was not waiting for events.',
    () => performance.eventLoopUtilization().active / 1000,
  );
  if (process.platform !== 'linux') return;
  add('gauge', 'process_open_fds', 'Open file descriptors.', () => readdirSync('/proc/self/fd').length);
  add('gauge', 'process_max_fds', 'Limit on open file descriptors.', () =>
    readNumber('limits', /^Max open files +(\d+)/m),
  );
  add(
    'gauge',
    'process_virtual_memory_bytes',
    'Virtual memory of this process.',
    () => readNumber('status', /^VmSize:\s+(\d+) kB/m) * 1024,
  );
};

const readNumber = (file: string, pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(`/proc/self/${file}`, 'utf8'))?.[1]);
