import type { Concern } from '../../../kit/feature.ts';
import { hostLimits } from '../../../kit/offers.ts';
import {
  defineWatchType,
  type Finding,
  toBytesText,
  toPercentText,
  type WatchReadings,
  type WatchType,
} from '../watch-type.ts';

/** Defines a watch on a part of signalbox. It reports the concerns of one area. */
const defineOwn = (
  name: 'database' | 'journal' | 'destination',
  area: Concern['area'],
  goodWords: string,
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
      const words = concerns.map(({ text }) => text).join('; ') || goodWords;
      return [{ thing: name, isBad: concerns.length > 0, words }, ...(await findMore(readings))];
    },
  });

/** Free bytes that the logs need to grow. Each log grows by one mebibyte at a time. */
const minFreeBytes = 16 * 1024 * 1024;

/** Watches the stores of tasks, items and alerts. */
export const databaseWatch = defineOwn('database', 'stores', 'everything can be stored');
export const journalWatch = defineOwn('journal', 'log', 'alerts can be stored', async ({ readDataSpace }) => {
  const { used, available } = await readDataSpace();
  const share = used / (used + available);
  const words = `the disk of the data directory is ${toPercentText(100 * share)} full (${toBytesText(available)} free)`;
  const isBad = share >= hostLimits.fullDisk || available < minFreeBytes;
  return [{ thing: 'disk', isBad, figure: 100 * share, words }];
});
export const destinationWatch = {
  ...defineOwn('destination', 'deliveries', 'all deliveries succeed'),
  for: 900,
};

/** Checks that most checks of the network and of this machine work. If they do not, the cause is local. */
export const checksWatch = defineWatchType({
  name: 'checks',
  scope: () => 'instance',
  keys: [],
  limit: 'none',
  defaultLevel: 'ERROR',
  every: 10,
  describeGone: (scope) => `there are no more ${scope} checks`,
  check: async (_watch, { countUnknown }) =>
    countUnknown().map(({ scope, unknown, all, reason, isMost }) => ({
      thing: scope,
      isBad: isMost,
      words: isMost
        ? `${unknown} of ${all} ${scope} checks cannot run, so the cause is probably on this machine: ${reason}`
        : `${all - unknown} of ${all} ${scope} checks can run`,
    })),
});
