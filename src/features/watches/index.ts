import { hostname } from 'node:os';
import Type from 'typebox';
import { isAccessible, systemPaths } from '../../host/programs.ts';
import { pickUsable } from '../../kit/compiled-settings.ts';
import { defineFeature } from '../../kit/feature.ts';
import { findTargetProblems, openTargets, targetSettings } from '../../kit/targets.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import {
  findConfigProblems,
  findStoredProblem,
  isCovered,
  listDefaultWatches,
  listKnownWatches,
} from './definitions.ts';
import { keepPlace, takeGonePlace, toInstancePlace, toPlaceLease } from './gone-places.ts';
import { createWatchRoutes, watchKind } from './routes.ts';
import { StrictWatch } from './schema.ts';
import { Watcher } from './watcher.ts';

/** Watches the machine and what is beside it, and raises alerts. */
export const watches = defineFeature({
  name: 'watches',
  profiles: [
    {
      name: 'watches',
      mounts: ['/'],
      summary: 'conditions that are checked regularly and raise alerts',
      fixedAccess: 'closed',
    },
  ],
  settings: {
    watches: Type.Array(StrictWatch, {
      default: [],
      maxItems: 1000,
      description: 'Watches, in addition to those made at run time.',
    }),
    defaultWatches: Type.Boolean({
      default: true,
      description: "Watch this machine's disks, memory and systemd units.",
    }),
    ...targetSettings,
  },
  findProblems: ({ watches: configured, watchTargets }) => [
    ...findConfigProblems(configured),
    ...findTargetProblems(watchTargets),
  ],
  create: async ({ settings, offers, host, database, findConcerns, readDataSpace, clock, meters, log }) => {
    const machine = database ? createLease(database, toPlaceLease(hostname())) : ownLease;
    const network = database ? createLease(database, 'watches') : ownLease;
    const ownPlace = toInstancePlace(database && offers.alerts ? await offers.alerts.readInstance() : 'signalbox');
    const instance = database ? keepPlace(createLease(database, toPlaceLease(ownPlace))) : ownLease;
    let { watches: configured, defaultWatches } = settings;
    const usual = listDefaultWatches(await isAccessible(systemPaths.bootMark));
    const targets = openTargets(settings.watchTargets);
    const watcher = new Watcher({
      host,
      findConcerns,
      readDataSpace,
      clock,
      log,
      journal: offers.alerts?.journal,
      silenceOf: offers.alerts?.silenceOf,
      alerts: offers.alerts,
      incidents: offers.incidents,
      history: offers.history,
      targets,
      leases: { machine, network, instance },
      where: { machine: hostname(), network: '', instance: ownPlace },
      isShared: database !== undefined,
      takeGone: database && ((place) => takeGonePlace(database, place)),
    });
    const listMade = () => (offers.settings ? pickUsable(offers.settings, watchKind, findStoredProblem) : []);
    const listAll = () => listKnownWatches(configured, listMade(), defaultWatches ? usual : []);
    let known = listAll();
    const renew = (): void => {
      known = listAll();
      watcher.set(known);
    };
    renew();
    offers.settings?.onChanged(watchKind, renew);
    meters.reading(
      'gauge',
      'signalbox_watched_things',
      'What is watched here, by state.',
      () => {
        const states = watcher.listStates();
        return ['ok', 'pending', 'firing', 'cannot check'].map((state) => [
          [state],
          states.filter((each) => each === state).length,
        ]);
      },
      ['state'],
    );
    meters.reading('counter', 'signalbox_watch_checks_total', 'Checks of watches.', () => [
      [[], watcher.checked.count],
    ]);
    return {
      profiles: { watches: createWatchRoutes({ watcher, list: () => known, settings: offers.settings }) },
      offers: { watches: { covers: (what) => isCovered(known, what) } },
      findConcerns: () => watcher.findConcerns(),
      start: () => watcher.start(),
      reload: (changed) => {
        ({ watches: configured, defaultWatches } = changed);
        targets.change(changed.watchTargets);
        renew();
        return [];
      },
      close: async () => {
        await watcher.close();
        await Promise.all([machine.close(), network.close(), instance.close()]);
      },
    };
  },
});
