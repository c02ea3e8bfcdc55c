import type { CheckKind, CheckSource } from '../../kit/availability.ts';
import { defineFeature } from '../../kit/feature.ts';
import { hourMs, MiB } from '../../lib/units.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { createLease, ownLease } from '../../storage/postgres/lease.ts';
import { createSnapshotTable } from '../../storage/postgres/snapshot-table.ts';
import type { LogOptions } from '../../storage/storage.ts';
import { Recorder } from './recorder.ts';
import { createAvailabilityRoutes } from './routes.ts';
import { createAvailabilitySource } from './source.ts';
import { AvailabilityStore } from './store.ts';
import { availabilityTransfer } from './transfer.ts';

/** Log segments are deleted once a snapshot contains their events. */
const files: LogOptions = {
  segmentBytes: 4 * MiB,
  retainBytes: 1,
  awaitsHold: true,
  expects: 'all',
  recentCount: 1000,
  logsRemoval: false,
};

/** Availability: the states of watches, heartbeats and hosts over time. */
export const availability = defineFeature({
  name: 'availability',
  needs: ['silences', 'incidents'],
  profiles: [
    {
      name: 'availability',
      mounts: ['/'],
      summary: 'availability and outages of watches, heartbeats and hosts',
      fixedAccess: 'closed',
    },
  ],
  settings: {},
  transfer: availabilityTransfer,
  create: async ({ offers, storage, clock, log, authorize }) => {
    const { database } = storage;
    const lease = database ? createLease(database, 'availability') : ownLease;
    const store = await AvailabilityStore.open({
      log: database
        ? await DatabaseLog.open({ database, table: 'availability', clock, retainDays: () => 0, hasSnapshot: true })
        : await storage.log('availability', files),
      snapshot: database
        ? createSnapshotTable({ database, tables: ['availability'], cutsLog: true, isWriter: () => lease.isHeld() })
        : storage.snapshot('availability'),
      report: log,
    });
    const { silences, incidents } = offers;
    const recorder = new Recorder({ store, lease, silences, incidents, clock, log });
    const sources: CheckSource[] = [];
    const findChecks = (kind: CheckKind): CheckSource | undefined => sources.find((each) => each.kind === kind);
    const source = createAvailabilitySource(store, clock, {
      record: (added) => {
        sources.push(added);
        recorder.add(added);
      },
      findChecks,
    });
    let saving: NodeJS.Timeout | undefined;
    return {
      profiles: {
        availability: createAvailabilityRoutes({
          source,
          authorize,
          clock,
          findChecks,
        }),
      },
      offers: { availability: source },
      isReady: () => store.isReady,
      start: () => {
        recorder.start();
        // A start reads at most an hour of events.
        saving = setInterval(() => {
          if (lease.isHeld()) void store.save();
        }, hourMs).unref();
      },
      close: async () => {
        clearInterval(saving);
        await recorder.close();
        await lease.close();
        if (database === undefined) await store.save();
        await store.close();
      },
    };
  },
});
