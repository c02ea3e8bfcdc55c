import { isLike } from '../../wildcards.ts';
import type { WatchSettings } from '../schema.ts';
import { defineWatchType, toBytesText, toPercentText, type WatchReadings } from '../type.ts';

/** Percent of the memory that programs cannot have. */
export const memoryWatch = defineWatchType({
  name: 'memory',
  scope: () => 'machine',
  keys: [],
  limit: 'required',
  every: 10,
  check: async (_watch, { host }) => {
    const { total, available } = await host.memory();
    const used = (100 * (total - available)) / total;
    const words = `${toPercentText(used)} of the memory is in use (${toBytesText(available)} available)`;
    return [{ thing: 'memory', figure: used, toText: toPercentText, words }];
  },
});

export const swapWatch = defineWatchType({
  name: 'swap',
  scope: () => 'machine',
  keys: [],
  limit: 'required',
  every: 10,
  check: async (_watch, { host }) => {
    const { swapTotal, swapFree } = await host.memory();
    if (swapTotal === 0) throw new Error('this machine has no swap space');
    const used = (100 * (swapTotal - swapFree)) / swapTotal;
    const words = `${toPercentText(used)} of the swap space is in use (${toBytesText(swapFree)} free)`;
    return [{ thing: 'swap', figure: used, toText: toPercentText, words }];
  },
});

/** A mean since the check before. */
const meanOf = ({ every = usualEvery }: WatchSettings, { usage }: WatchReadings, key: 'cpu' | 'load'): number => {
  const mean = usage.mean(every, (each) => each[key]);
  if (mean === undefined) throw new Error('the processors of this machine cannot be read');
  return mean;
};

const usualEvery = 10;

export const cpuWatch = defineWatchType({
  name: 'cpu',
  scope: () => 'machine',
  keys: [],
  limit: 'required',
  every: usualEvery,
  check: async (watch, readings) => {
    const busy = 100 * meanOf(watch, readings, 'cpu');
    const words = `the processors are ${toPercentText(busy)} busy`;
    return [{ thing: 'cpu', figure: busy, toText: toPercentText, words }];
  },
});

const toLoadText = (load: number): string => load.toFixed(2);

/** Runnable processes for each processor, mean of a minute. */
export const loadWatch = defineWatchType({
  name: 'load',
  scope: () => 'machine',
  keys: [],
  limit: 'required',
  every: usualEvery,
  check: async (watch, readings) => {
    const processors = Math.max(1, readings.host.counters().cpuSeconds.size - 1);
    const load = meanOf(watch, readings, 'load') / processors;
    const words = `the load is ${toLoadText(load)} for each of ${processors} processors`;
    return [{ thing: 'load', figure: load, toText: toLoadText, words }];
  },
});

/** Percent of the last minute in which tasks waited. */
export const pressureWatch = defineWatchType({
  name: 'pressure',
  scope: () => 'machine',
  keys: ['resource'],
  limit: 'required',
  every: 10,
  check: async ({ resource = 'memory' }, { host }) => {
    const share = host.pressure(resource);
    if (share === null) throw new Error('this kernel does not say how long tasks wait (PSI)');
    const words = `tasks waited for ${resource} in ${toPercentText(share)} of the last minute`;
    return [{ thing: resource, figure: share, toText: toPercentText, words }];
  },
});

const toCelsius = (celsius: number): string => `${celsius.toFixed(1)} °C`;

export const temperatureWatch = defineWatchType({
  name: 'temperature',
  scope: () => 'machine',
  keys: ['sensor'],
  limit: 'required',
  every: 10,
  check: async ({ sensor: pattern = '*' }, { host }) => {
    const found = host.temperatures().filter(({ sensor }) => isLike(sensor, pattern));
    if (found.length === 0) throw new Error(`there is no temperature sensor ${pattern}`);
    return found.map(({ sensor, celsius }) => {
      const words = `${sensor} has ${toCelsius(celsius)}`;
      return { thing: sensor, figure: celsius, toText: toCelsius, words };
    });
  },
});
