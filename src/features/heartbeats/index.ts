import { openFor } from '../../auth/access.ts';
import type { Thing } from '../../kit/dependencies.ts';
import { defineFeature, type FeatureInstance } from '../../kit/feature.ts';
import { heartbeatStates } from '../../kit/heartbeat-states.ts';
import { createEventTopic } from '../../kit/topic.ts';
import { Slice } from '../../lib/slice.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { HeartbeatAlerter } from './alerter.ts';
import { createHeartbeatChecks } from './checks.ts';
import { createHeartbeatDependencies } from './dependencies.ts';
import { HeartbeatKeeper } from './keeper.ts';
import type { KnownHeartbeat } from './kind.ts';
import { createLastAlive, createSharedLastAlive } from './last-alive.ts';
import { createPingRoutes } from './ping-routes.ts';
import { listReported } from './reported.ts';
import { createHeartbeatRoutes } from './routes.ts';
import { Heartbeat } from './schema.ts';
import { findHeartbeatProblems, type HeartbeatSettings, heartbeatSettings } from './settings.ts';
import { createHeartbeatSnapshot } from './shared-snapshot.ts';
import { toHeartbeat } from './shown.ts';
import { HeartbeatStore, heartbeatLog } from './store.ts';
import { heartbeatTransfer } from './transfer.ts';

/** Days for which a database keeps records that are already in a snapshot. */
const retainDays = 7;

/** Milliseconds between two snapshots. */
const saveMs = 60 * 60 * 1000;

/** Feature for heartbeats: jobs that are expected on a schedule. Each heartbeat that is down has an alert. */
export const heartbeats = defineFeature({
  name: 'heartbeats',
  needs: ['settings', 'alerts', 'incidents', 'availability'],
  profiles: [
    {
      name: 'heartbeats',
      aliases: ['incidents'],
      mounts: ['/'],
      summary: 'jobs expected on a schedule',
    },
  ],
  settings: heartbeatSettings,
  findProblems: findHeartbeatProblems,
  listThings: ({ heartbeats: configured }) =>
    configured.map(({ name, dependsOn }): Thing => ({ ref: `heartbeat/${name}`, dependsOn })),
  transfer: heartbeatTransfer,
  create: async (parts) => {
    const { offers, storage, clock, log, meters, authorize, settings } = parts;
    const { database } = storage;
    const pings = database
      ? await DatabaseLog.open({ database, table: 'heartbeat', clock, retainDays: () => retainDays })
      : await storage.log('heartbeats', heartbeatLog);
    const snapshot = database ? createHeartbeatSnapshot(database) : storage.snapshot('heartbeats');
    const alive = database ? createSharedLastAlive(database) : createLastAlive(storage.file('heartbeats.alive'));
    const store = await HeartbeatStore.open({ log: pings, snapshot, report: log });
    const { dependencies } = offers.incidents;
    const keeper = new HeartbeatKeeper({
      settings: offers.settings,
      configured: settings.heartbeats,
      check: ({ name, definition }) => dependencies.assertUsable(`heartbeat/${name}`, definition),
      checkDeletion: (name) => dependencies.assertUnneeded(`heartbeat/${name}`),
      onUnusable: (name, err) =>
        log.error({ err, name }, 'heartbeats: a stored heartbeat cannot be used and has no effect'),
    });
    // Compile all definitions before the first request.
    keeper.list();
    const lease = database ? createLease(database, 'heartbeats') : ownLease;
    const { topic, publish } = createEventTopic(openFor('incidents:read'), Heartbeat);
    const alerter = new HeartbeatAlerter({
      store,
      alive,
      keeper,
      lease,
      alerts: offers.alerts,
      clock,
      log,
      // Definitions and states may arrive from a database in any order.
      patienceMs: database ? 10_000 : 0,
    });
    const isRead = (): boolean => offers.settings.isRead();
    dependencies.add(createHeartbeatDependencies({ store, keeper, alerter, isRead }));
    offers.availability.record(createHeartbeatChecks({ store, keeper, alerter, lease, isRead, clock }));
    const show = (known: KnownHeartbeat, isForAdmin: boolean): Heartbeat => {
      const state = store.find(known.name);
      const own = state?.since === known.since ? state : undefined;
      return toHeartbeat(known, own, alerter.judge(known), isForAdmin);
    };
    const publishHeartbeat = (name: string): void => {
      const known = keeper.find(name);
      if (known) publish(() => show(known, false));
    };
    store.onChanged(publishHeartbeat);
    alerter.onChanged(publishHeartbeat);
    const sent = meters.counter('signalbox_heartbeat_pings_total', 'Pings by type.', ['type']);
    for (const type of ['success', 'start', 'failure', 'log']) sent.at(type);
    meters.reading(
      'gauge',
      'signalbox_heartbeats',
      'Heartbeats by state.',
      async () => {
        const counts = new Map(heartbeatStates.map((state) => [state, 0]));
        const slice = new Slice();
        for (const known of keeper.list()) {
          if (slice.isOver) await slice.giveWay();
          const { status } = alerter.judge(known);
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
        return Array.from(counts, ([state, count]) => [[state], count]);
      },
      ['state'],
    );
    let saving: NodeJS.Timeout | undefined;
    const common = { store, keeper, authorize, clock, availability: offers.availability };
    const count = (type: string): void => {
      sent.at(type).value += 1;
    };
    return {
      profiles: {
        heartbeats: [...createPingRoutes({ ...common, count }), ...createHeartbeatRoutes({ ...common, show })],
      },
      topics: { heartbeats: topic },
      offers: { heartbeats: { list: () => listReported({ store, keeper, alerter, clock }) } },
      isReady: () => store.isReady,
      start: () => {
        alerter.start();
        saving = setInterval(() => {
          // Only one of several instances stores snapshots.
          if (lease.isHeld()) void store.save();
        }, saveMs).unref();
      },
      reload: ({ heartbeats: changed }) => {
        keeper.configure(changed, clock().getTime());
        return [];
      },
      close: async () => {
        clearInterval(saving);
        await alerter.close();
        await lease.close();
        await store.close();
      },
    } satisfies FeatureInstance<HeartbeatSettings>;
  },
});
