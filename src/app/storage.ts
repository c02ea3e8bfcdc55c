import { join, resolve } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/schema.ts';
import type { Meters } from '../metrics/meters.ts';
import type { Parts } from '../profiles/feature.ts';
import { createStateFile } from '../storage/changes/state-file.ts';
import type { Patience } from '../storage/postgres/database.ts';
import { createSnapshot } from '../storage/snapshot.ts';
import { createChangesOpener } from './changes-opener.ts';
import { createLogOpener, type UnwritableLog } from './journal-opener.ts';
import { createPassingSecrets, openKeptSecrets } from './random-secrets.ts';
import { openDatabase } from './shared-store.ts';

/** Where an app keeps what must survive it. */
interface Storage
  extends Pick<Parts, 'database' | 'openLog' | 'openChanges' | 'openSnapshot' | 'openState' | 'secrets'> {
  /** The logs that cannot be written at the moment. */
  listUnwritable(): UnwritableLog[];
  /** Opens files again that another program has moved. */
  reopen(): Promise<void>;
  /** Called when shutdown begins. */
  stop(): void;
  close(): Promise<void>;
}

interface StorageParts {
  /** The name of this instance. */
  name: string;
  version: string;
  log: FastifyBaseLogger;
  meters: Meters;
  /** How long requests wait for a database that does not answer, if not as usual. */
  patience?: Patience;
}

/** Throws a SettingsError for a place that cannot be used. */
export type OpenStorage = (settings: Settings, parts: StorageParts) => Promise<Storage>;

/** Opens the data directory, and the database where the setting `store` names one. */
export const openStorage: OpenStorage = async (settings, { name, version, log, meters, patience }) => {
  const directory = resolve(settings.dataDir);
  const { openLog, listUnwritable } = createLogOpener(directory, log, meters);
  const { openChanges, reopen } = createChangesOpener(settings, openLog, log);
  const secrets = settings.keepSecrets ? await openKeptSecrets(directory) : createPassingSecrets();
  const database = await openDatabase(settings, { name, version, log, meters, patience });
  return {
    ...{ database, openLog, openChanges, reopen, secrets, listUnwritable },
    openSnapshot: (file) => createSnapshot(directory, file),
    openState: (file) => createStateFile(join(directory, `${file}.state`)),
    stop: () => database?.stop(),
    close: async () => database?.close(),
  };
};
