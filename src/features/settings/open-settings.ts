import type { Parts } from '../../kit/feature.ts';
import { MiB } from '../../lib/units.ts';
import { createFreeSpaceCheck } from '../../storage/journal/files.ts';
import type { LogOptions } from '../../storage/storage.ts';
import { LoggedSettings } from './store.ts';

/**
 * Options of the change log. The part before the snapshot is kept only for the list of changes. The latest changes stay
 * in memory, so that new changes can be folded without reading the disk.
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

/** Bytes that are kept free for revocations. */
const minFreeBytes = MiB;

/** Opens the runtime settings, either in the database or in the data directory. */
export const openRuntimeSettings = async ({ storage, clock, log }: Pick<Parts, 'storage' | 'clock' | 'log'>) => {
  const { database } = storage;
  const damages: string[] = [];
  // Loaded only with a database.
  const shared = database && (await (await import('./shared-log.ts')).openSharedSettingLog(database, clock));
  const changes = shared?.changes ?? (await storage.log('settings', files));
  const store = await LoggedSettings.open({
    log: changes,
    clock,
    ...(shared
      ? { state: shared.state }
      : // The snapshot has no reserve, because after a failed change, every change needs a snapshot, even a revocation.
        { state: storage.snapshot('settings', 0), assertSpace: createFreeSpaceCheck(storage.directory, minFreeBytes) }),
    onBroken: (kind, name, reason) =>
      log.error({ kind, name, reason }, 'settings: a setting cannot be read and has no effect'),
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
