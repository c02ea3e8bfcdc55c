import type { Concern } from '../../../kit/feature.ts';
import { hostLimits } from '../../../kit/offers.ts';
import {
  defineWatchType,
  type Finding,
  toBytesText,
  toPercentText,
  type WatchReadings,
  type WatchType,
} from '../type.ts';

/** A part of signalbox itself, by what Overview says of it. */
const defineOwn = (
  name: 'database' | 'journal' | 'destination',
  area: Concern['area'],
  good: string,
  findMore: (readings: WatchReadings) => Promise<Finding[]> = async () => [],
): WatchType =>
  defineWatchType({
    name,
    scope: () => 'instance',
    keys: [],
    limit: 'none',
    every: 10,
    check: async (_watch, readings) => {
      const concerns = (await readings.findConcerns()).filter((concern) => concern.area === area);
      const words = concerns.map(({ text }) => text).join('; ') || good;
      return [{ thing: name, isBad: concerns.length > 0, words }, ...(await findMore(readings))];
    },
  });

/** Logs grow by a mebibyte at a time, and several do. */
const leastBytes = 16 * 1024 * 1024;

/** What keeps tasks, items and alerts: the database, or files. */
export const databaseWatch = defineOwn('database', 'stores', 'everything can be stored');
export const journalWatch = defineOwn('journal', 'log', 'alerts can be stored', async ({ readDataSpace }) => {
  const { used, available } = await readDataSpace();
  const share = used / (used + available);
  const words = `the disk of the data directory is ${toPercentText(100 * share)} full (${toBytesText(available)} free)`;
  const isBad = share >= hostLimits.fullDisk || available < leastBytes;
  return [{ thing: 'disk', isBad, figure: 100 * share, words }];
});
export const destinationWatch = { ...defineOwn('destination', 'deliveries', 'destinations get everything'), for: 900 };
