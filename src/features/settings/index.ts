import { type Concern, defineFeature, type Parts } from '../../kit/feature.ts';
import { MiB } from '../../lib/units.ts';
import { createFreeSpaceCheck } from '../../storage/journal/files.ts';
import { DatabaseLog } from '../../storage/postgres/database-log.ts';
import { createSnapshotTable } from '../../storage/postgres/snapshot-table.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { LogOptions } from '../../storage/storage.ts';
import { createBrokenRoutes } from './broken-routes.ts';
import { createAuditRoute } from './routes.ts';
import { type BrokenSetting, LoggedSettings } from './store.ts';
import { settingsTransfer } from './transfer.ts';

/**
 * Change log. The log before the snapshot is kept only for the list of changes. The latest changes stay in memory, so
 * that new changes can be folded without reading the disk.
 */
const files: LogOptions = {
  segmentBytes: 4 * MiB,
  retainBytes: 16 * MiB,
  awaitsHold: true,
  expects: 'all',
  recentCount: 1000,
  minFreeBytes: 0,
  logsRemoval: false,
};

/** Bytes kept free for revocations. */
const minFreeBytes = MiB;

/** Opens the runtime settings in the database or the data directory. */
export const openRuntimeSettings = async ({ storage, clock, log }: Pick<Parts, 'storage' | 'clock' | 'log'>) => {
  const { database } = storage;
  const damages: string[] = [];
  const changes: RecordLog = database
    ? await DatabaseLog.open({ database, table: 'setting', clock, retainDays: () => 0, hasSnapshot: true })
    : await storage.log('settings', files);
  const store = await LoggedSettings.open({
    log: changes,
    clock,
    ...(database
      ? {
          state: createSnapshotTable({ database, tables: ['setting'], cutsLog: true }),
        }
      : // The snapshot has no reserve: after a failed change, any change needs a snapshot, even a revocation.
        { state: storage.snapshot('settings', 0), assertSpace: createFreeSpaceCheck(storage.directory, minFreeBytes) }),
    onBroken: (kind, name, reason) => log.error({ kind, name, reason }, 'settings: a setting cannot be read'),
    onDamage: (damage) => {
      damages.push(damage);
      log.error({ damage }, 'settings: the snapshot is damaged');
    },
    onUnsaved: (err) => log.warn({ err }, 'settings: the snapshot cannot be written; the log is kept'),
  });
  return {
    changes,
    store,
    listDamages: () => damages,
    close: async (): Promise<void> => {
      await store.close();
      await changes.close();
    },
  };
};

/** Runtime settings and the audit of their changes. */
export const runtimeSettings = defineFeature({
  name: 'settings',
  profiles: [{ name: 'settings', aliases: ['incidents'], mounts: ['/'], summary: 'audit of runtime settings' }],
  settings: {},
  transfer: settingsTransfer,
  create: async (parts) => {
    const { changes, store, listDamages, close } = await openRuntimeSettings(parts);
    return {
      profiles: { settings: [createAuditRoute(changes, store), ...createBrokenRoutes(store)] },
      offers: { settings: store },
      findConcerns: () => [
        ...listDamages().map(toConcern),
        ...store.listBroken().slice(0, maxShown).map(describeBroken),
      ],
      isReady: () => store.isReady(),
      close,
    };
  },
});

/** Maximum number of unreadable settings listed in the status. */
const maxShown = 20;

const describeBroken = ({ kind, name, reason }: BrokenSetting): Concern => ({
  area: 'stores',
  severity: 'ERROR',
  text: `The ${kind} ${name} cannot be read and has no effect: ${reason}`,
});

const toConcern = (damage: string): Concern => ({
  area: 'stores',
  severity: 'ERROR',
  text: `The settings are damaged, so changes are missing: ${damage}`,
});
