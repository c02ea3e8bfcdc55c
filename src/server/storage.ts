import { join, resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import type { Concern, RandomSecrets } from '../kit/feature.ts';
import { limitBytes, openInMemory } from '../storage/changes.ts';
import { hasUnfinishedImport } from '../storage/file-import.ts';
import { createFolderOf } from '../storage/folder.ts';
import { createReplacedFile } from '../storage/replaced-file.ts';
import { createSnapshotFile } from '../storage/snapshot-file.ts';
import type { Storage } from '../storage/storage.ts';
import { type OnProgress, openDatabase, type StorageParts } from './database.ts';
import { createChangesOpener } from './open-changes.ts';
import { createLogOpener } from './open-logs.ts';
import { createTemporarySecrets, openStoredSecrets } from './secrets.ts';
import { requireStore } from './store.ts';

/** Storage of data that must outlive the app. */
export interface AppStorage extends Storage {
  secrets: RandomSecrets;
  /**
   * Returns concerns about data that currently cannot be stored. `unavailable` lists the features that currently cannot
   * store changes.
   */
  findStorageConcerns(unavailable: readonly string[]): Concern[];
  /** Reopens log files that other programs have moved. */
  reopen(): Promise<void>;
  /** Called when shutdown begins. */
  stop(): void;
  close(): Promise<void>;
}

/** Opens storage. Throws a SettingsError if the directory or database is unusable. */
export type OpenStorage = (settings: Settings, parts: StorageParts) => Promise<AppStorage>;

/** Opens the data directory, and the database if the setting `store` names one. */
export const openStorage: OpenStorage = async (settings, parts) => {
  const directory = resolve(settings.dataDir);
  const { log, meters, onProgress = createProgressLog(log) } = parts;
  // An import may have started to store alerts. A memory store also keeps alerts in this directory.
  const { kind } = requireStore(settings.store);
  if (kind !== 'postgresql') assertNoUnfinishedImport(directory);
  const { openLog, findLogConcerns, reopen } = createLogOpener(directory, { log, meters, onProgress });
  const openChanges = kind === 'file' ? createChangesOpener(directory, openLog, { log, onProgress }) : openInMemory;
  const { storeMaxBytes = Math.floor(getHeapStatistics().heap_size_limit / 2) } = settings;
  const full = `Tasks and items take up all of storeMaxBytes (${storeMaxBytes}): delete tasks or items, or raise storeMaxBytes`;
  const secrets = settings.keepSecrets ? await openStoredSecrets(directory) : createTemporarySecrets();
  const database = await openDatabase(settings, { ...parts, onProgress });
  return {
    store: kind,
    directory,
    database,
    log: openLog,
    changes: limitBytes(openChanges, storeMaxBytes, full),
    snapshot: (name, minFreeBytes) => createSnapshotFile(join(directory, `${name}.state`), { minFreeBytes }),
    file: (name) => createReplacedFile(directory, name),
    folder: (name) => createFolderOf(join(directory, name)),
    secrets,
    reopen,
    findStorageConcerns: (unavailable) => [
      ...(database?.failure
        ? [toConcern('stores', 'The database cannot be used')]
        : unavailable.map((name) => toConcern('stores', `Changes to ${name} cannot be stored`))),
      ...findLogConcerns(unavailable),
    ],
    stop: () => database?.stop(),
    close: async () => database?.close(),
  };
};

/** Milliseconds after which the log mentions slow work. */
const longMs = 2000;

/** Creates a receiver of progress that logs slow work once. */
const createProgressLog = (log: FastifyBaseLogger): OnProgress => {
  const begun = new Map<string, number>();
  return (what, done, total) => {
    const startedAt = begun.get(what) ?? performance.now();
    begun.set(what, startedAt);
    if (done === total) begun.delete(what);
    else if (performance.now() - startedAt > longMs) {
      begun.set(what, Number.POSITIVE_INFINITY);
      log.info({ done, total }, `startup takes long: ${what}`);
    }
  };
};

const toConcern = (area: Concern['area'], text: string): Concern => ({ area, severity: 'CRITICAL', text });

/** Throws a SettingsError if an import into the directory was interrupted while it was storing. */
export const assertNoUnfinishedImport = (directory: string): void => {
  if (!hasUnfinishedImport(directory)) return;
  throw new SettingsError([`dataDir: ${directory} contains part of an interrupted import; run signalbox import again`]);
};
