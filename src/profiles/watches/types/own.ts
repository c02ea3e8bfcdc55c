import type { Concern } from '../../feature.ts';
import { defineWatchType, type WatchType } from '../type.ts';

/** A part of signalbox itself, by what Overview says of it. */
const defineOwn = (name: 'database' | 'journal' | 'destination', area: Concern['area'], good: string): WatchType =>
  defineWatchType({
    name,
    scope: () => 'instance',
    keys: [],
    limit: 'none',
    every: 10,
    check: async (_watch, { findConcerns }) => {
      const concerns = (await findConcerns()).filter((concern) => concern.area === area);
      const words = concerns.map(({ text }) => text).join('; ') || good;
      return [{ thing: name, isBad: concerns.length > 0, words }];
    },
  });

/** What keeps tasks, items and alerts: the database, or files. */
export const databaseWatch = defineOwn('database', 'stores', 'everything can be stored');
export const journalWatch = defineOwn('journal', 'log', 'alerts can be stored');
export const destinationWatch = { ...defineOwn('destination', 'deliveries', 'destinations get everything'), for: 900 };
