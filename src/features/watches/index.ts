import { hostname } from 'node:os';
import { isAccessible, systemPaths } from '../../host/programs.ts';
import type { Thing } from '../../kit/dependencies.ts';
import { defineFeature } from '../../kit/feature.ts';
import { findReachProblems, openReach } from '../../kit/reach.ts';
import { SettingKeeper } from '../../kit/setting-keeper.ts';
import { readSpace } from '../../storage/journal/files.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { createWatchChecks } from './checks.ts';
import { createWatchDependencies } from './dependencies.ts';
import { keepPlace, takeGonePlace, toInstancePlace, toPlaceLease } from './gone-places.ts';
import { type WatchKeeper, watchKind } from './kind.ts';
import { isCovered, listDefaultWatches } from './known-watch.ts';
import { assertPushable } from './push-limit.ts';
import { hasSecretsFor, listPushed, ReceivedWatches } from './pushed.ts';
import { createWatchRoutes } from './routes.ts';
import { watchSettings } from './settings.ts';
import { findConfigProblems } from './watch-problems.ts';
import { Watcher } from './watcher.ts';

/** Feature for watches: conditions of this machine, the network and signalbox that raise alerts. */
export const watches = defineFeature({
  name: 'watches',
  needs: ['settings', 'alerts', 'incidents', 'availability'],
  profiles: [
    {
      name: 'watches',
      mounts: ['/'],
      summary: 'conditions that are checked regularly and raise alerts',
      fixedAccess: 'closed',
    },
  ],
  settings: watchSettings,
  findProblems: ({ watches: configured, watchTargets }) => [
    ...findConfigProblems(configured),
    ...findReachProblems(watchTargets),
  ],
  listThings: ({ watches: configured, defaultWatches }) => [
    ...configured.map(({ name, dependsOn }): Thing => ({ ref: `watch/${name}`, dependsOn })),
    ...(defaultWatches ? listDefaultWatches(true) : []).map(({ name }): Thing => ({ ref: `watch/${name}` })),
  ],
  create: async ({ settings, offers, host, storage, findConcerns, clock, meters, log }) => {
    const { database, directory } = storage;
    const machine = database ? createLease(database, toPlaceLease(hostname())) : ownLease;
    const network = database ? createLease(database, 'watches') : ownLease;
    const ownPlace = toInstancePlace(database ? await offers.alerts.readInstance() : 'signalbox');
    const instance = database ? keepPlace(createLease(database, toPlaceLease(ownPlace))) : ownLease;
    const defaults = listDefaultWatches(await isAccessible(systemPaths.bootMark));
    const reach = openReach(settings.watchTargets);
    const leases = { machine, network, instance };
    const places = { machine: hostname(), network: '', instance: ownPlace };
    const watcher = new Watcher({
      host,
      findConcerns,
      readDataSpace: () => readSpace(directory),
      clock,
      log,
      journal: offers.alerts.journal,
      quietMsOf: offers.alerts.quietMsOf,
      alerts: offers.alerts,
      incidents: offers.incidents,
      listChecks: (watch) => offers.hosts?.listChecks(watch) ?? [],
      history: offers.history,
      reach,
      leases,
      places,
      isShared: database !== undefined,
      takeGone: database && ((place) => takeGonePlace(database, place)),
    });
    const { dependencies } = offers.incidents;
    const keeper: WatchKeeper = new SettingKeeper(watchKind, {
      settings: offers.settings,
      configured: settings.watches,
      defaults: settings.defaultWatches ? defaults : [],
      check: (watch, current) => {
        assertPushable(watch, current.listRuntime());
        dependencies.assertUsable(`watch/${watch.name}`, watch.settings);
      },
      checkDeletion: (name) => dependencies.assertUnneeded(`watch/${name}`),
    });
    const received = new ReceivedWatches(storage.file('hub.watches'), log);
    if (settings.hub) await received.load();
    const apply = (): void => watcher.set(received.merge(keeper.list()));
    keeper.onChanged(apply);
    apply();
    const isRead = (): boolean => offers.settings.isRead();
    dependencies.add(createWatchDependencies({ keeper, watcher, isRead, offers }));
    offers.availability.record(createWatchChecks({ keeper, watcher, leases, places, isRead, clock }));
    meters.reading(
      'gauge',
      'signalbox_watched_things',
      'Watched objects of this instance, by state.',
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
      profiles: { watches: createWatchRoutes({ keeper, watcher, availability: offers.availability, clock }) },
      offers: {
        watches: {
          covers: (what) => isCovered(keeper.list(), what),
          listFor: (host) => listPushed(keeper.list(), host),
          hasSecretsFor: (host) => hasSecretsFor(keeper.list(), host),
          get receivedId() {
            return received.id;
          },
          receive: async (watches) => {
            await received.set(watches);
            apply();
          },
          listChecks: () => watcher.listChecks(),
        },
      },
      findConcerns: () => watcher.findConcerns(),
      start: () => watcher.start(),
      reload: (changed) => {
        reach.change(changed.watchTargets);
        keeper.configure(changed.watches, clock().getTime(), changed.defaultWatches ? defaults : []);
        return [];
      },
      close: async () => {
        await watcher.close();
        await Promise.all([machine.close(), network.close(), instance.close()]);
      },
    };
  },
});
