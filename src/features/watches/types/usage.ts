import type { HostReadings, Usage } from '../../../host/readings.ts';
import { isLike } from '../../../lib/wildcards.ts';
import type { WatchSettings } from '../schema.ts';
import {
  defineWatchType,
  isExcepted,
  toBytesText,
  toPercentText,
  type WatchReadings,
  type WatchType,
} from '../watch-type.ts';

const defaultEvery = 10;

/** Defines a watch on the usage of the machine, with a limit. */
const defineUsage = (type: Pick<WatchType, 'name' | 'check'> & Partial<WatchType>): WatchType =>
  defineWatchType({ scope: () => 'machine', keys: [], limit: 'required', every: defaultEvery, ...type });

/** Computes percentages from two columns of the history, or from one column and a constant total. */
const toPercents = (used: readonly number[], total: number | readonly number[]): number[] =>
  used.map((value, index) => (100 * value) / (typeof total === 'number' ? total : (total[index] ?? Number.NaN)));

/** Measures the percentage of memory that programs cannot allocate. */
export const memoryWatch = defineUsage({
  name: 'memory',
  check: async (_watch, { host }) => {
    const { total, available } = await host.memory();
    const used = (100 * (total - available)) / total;
    const words = `${toPercentText(used)} of the memory is in use (${toBytesText(available)} available)`;
    return [{ thing: 'memory', figure: used, toText: toPercentText, words }];
  },
  listPast: (_watch, _thing, list) => toPercents(list('memoryUsed'), list('memoryTotal')),
});

export const swapWatch = defineUsage({
  name: 'swap',
  check: async (_watch, { host }) => {
    const { swapTotal, swapFree } = await host.memory();
    if (swapTotal === 0) throw new Error('this machine has no swap space');
    const used = (100 * (swapTotal - swapFree)) / swapTotal;
    const words = `${toPercentText(used)} of the swap space is in use (${toBytesText(swapFree)} free)`;
    return [{ thing: 'swap', figure: used, toText: toPercentText, words }];
  },
  listPast: async (_watch, _thing, list, host) => toPercents(list('swapUsed'), (await host.memory()).swapTotal),
});

/** Seconds of samples that a first check waits for. A single busy second says nothing about the mean. */
const firstSeconds = 5;

/** Reads the mean since the previous check. */
const readMean = async (
  { every = defaultEvery }: WatchSettings,
  { usage }: WatchReadings,
  key: keyof Usage,
): Promise<number> => {
  await usage.waitFor(Math.min(every, firstSeconds));
  const mean = usage.mean(every, (each) => each[key]);
  if (mean === undefined) throw new Error('the counters of this machine cannot be read');
  return mean;
};

export const cpuWatch = defineUsage({
  name: 'cpu',
  check: async (watch, readings) => {
    const busy = 100 * (await readMean(watch, readings, 'cpu'));
    const words = `the CPU is ${toPercentText(busy)} busy`;
    return [{ thing: 'cpu', figure: busy, toText: toPercentText, words }];
  },
  listPast: (_watch, _thing, list) => toPercents(list('cpu'), 1),
});

const countProcessors = (host: Pick<HostReadings, 'counters'>): number =>
  Math.max(1, host.counters().cpuSeconds.size - 1);

const toLoadText = (load: number): string => load.toFixed(2);

/** Measures the runnable processes per CPU, averaged over a minute. */
export const loadWatch = defineUsage({
  name: 'load',
  check: async (watch, readings) => {
    const processors = countProcessors(readings.host);
    const load = (await readMean(watch, readings, 'load')) / processors;
    const words = `the load is ${toLoadText(load)} per CPU, with ${processors} CPUs`;
    return [{ thing: 'load', figure: load, toText: toLoadText, words }];
  },
  listPast: (_watch, _thing, list, host) => {
    const processors = countProcessors(host);
    return list('load').map((load) => load / processors);
  },
});

/** Measures network bytes per second in one direction. */
export const networkWatch = defineUsage({
  name: 'network',
  keys: ['metric'],
  findProblem: ({ metric = 'received' }) =>
    metric === 'received' || metric === 'sent' ? undefined : 'metric must be received or sent',
  check: async (watch, readings) => {
    const { metric: thing = 'received' } = watch;
    const rate = await readMean(watch, readings, toNetworkColumn(watch));
    return [{ thing, figure: rate, toText: toRateText, words: `the network ${thing} ${toRateText(rate)}` }];
  },
  listPast: (watch, _thing, list) => list(toNetworkColumn(watch)),
});

const toNetworkColumn = ({ metric }: WatchSettings) => (metric === 'sent' ? 'networkSent' : 'networkReceived');

const toRateText = (rate: number): string => `${toBytesText(rate)}/s`;

/** Measures the percentage of the last minute during which tasks waited for a resource. */
export const pressureWatch = defineUsage({
  name: 'pressure',
  keys: ['resource'],
  check: async ({ resource = 'memory' }, { host }) => {
    const share = host.pressure(resource);
    if (share === null) throw new Error('this kernel does not report pressure (PSI)');
    const words = `tasks waited for ${resource} in ${toPercentText(share)} of the last minute`;
    return [{ thing: resource, figure: share, toText: toPercentText, words }];
  },
});

const toCelsius = (celsius: number): string => `${celsius.toFixed(1)} °C`;

export const temperatureWatch = defineUsage({
  name: 'temperature',
  keys: ['sensor', 'except'],
  check: async (watch, { host }) => {
    const { sensor: pattern = '*' } = watch;
    const found = host.temperatures().filter(({ sensor }) => isLike(sensor, pattern) && !isExcepted(watch, sensor));
    if (found.length === 0) throw new Error(`there is no temperature sensor ${pattern}`);
    return found.map(({ sensor, celsius }) => {
      const words = `${sensor} is at ${toCelsius(celsius)}`;
      return { thing: sensor, figure: celsius, toText: toCelsius, words };
    });
  },
});
