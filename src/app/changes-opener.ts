import { resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { FastifyBaseLogger } from 'fastify';
import type { Settings } from '../config/schema.ts';
import { SettingsError } from '../config/settings-error.ts';
import type { OpenLog } from '../profiles/feature.ts';
import { type Changes, keepInMemory, limitBytes, type OpenChanges } from '../storage/changes/changes.ts';
import { type LogOptions, openChangeLog } from '../storage/changes/open-changes.ts';
import { codeOf, explainOpening, JournalError } from '../storage/journal/errors.ts';
import type { JournalEvent } from '../storage/journal/options.ts';
import { isPostgresUrl } from '../storage/postgres/connecting/address.ts';
import { assertNoUnfinishedImport } from './transfer/file-store.ts';

interface ChangesOpener {
  openChanges: OpenChanges;
  /** Opens the files of all changes again that another program has moved. */
  reopen(): Promise<void>;
}

/** Keeps changes as the setting `store` says. */
export const createChangesOpener = (settings: Settings, openLog: OpenLog, log: FastifyBaseLogger): ChangesOpener => {
  const opened: Pick<Changes<never, unknown>, 'reopen'>[] = [];
  const reopen = async (): Promise<void> => {
    await Promise.all(opened.map((changes) => changes.reopen()));
  };
  const directory = resolve(settings.dataDir);
  // Of alerts, too, which a memory store keeps there.
  if (!isPostgresUrl(settings.store)) assertNoUnfinishedImport(directory);
  const { storeMaxBytes = Math.floor(getHeapStatistics().heap_size_limit / 2) } = settings;
  const limit = (openChanges: OpenChanges): OpenChanges =>
    limitBytes(openChanges, storeMaxBytes, describeFull(storeMaxBytes));
  if (settings.store !== 'file') return { openChanges: limit(async (_name, state) => keepInMemory(state)), reopen };
  const openChanges: OpenChanges = async (name, state, onLost) => {
    const surroundings = {
      directory,
      openJournal: (options: LogOptions, isExpected: (event: JournalEvent) => boolean) =>
        openLog(`${name} log`, { name, ...options }, isExpected),
      report: (err: Error) => log.warn({ err }, `${name}: the state cannot be written, so the log is kept`),
    };
    const orRefuse = (error: unknown): never => refuse(name, directory, error);
    const changes = await openChangeLog(surroundings, name, state, onLost).catch(orRefuse);
    opened.push(changes);
    return {
      write: (change) => changes.write(change),
      countWaiting: () => changes.countWaiting(),
      isReady: () => changes.isReady(),
      // For what was restored at the start.
      save: async () => Promise.resolve(changes.save()).catch(orRefuse),
      reopen: () => changes.reopen(),
      close: () => changes.close(),
    };
  };
  return { openChanges: limit(openChanges), reopen };
};

const describeFull = (maxBytes: number): string =>
  `Tasks and items take up all of storeMaxBytes (${maxBytes}): delete some, or raise it`;

/** Throws a SettingsError where the files are at fault. */
const refuse = (name: string, directory: string, error: unknown): never => {
  const isDamaged = error instanceof JournalError && error.code === 'damaged';
  if (isDamaged) {
    throw new SettingsError([
      `dataDir: ${name}: ${error.message}; restore the folder from a backup, or save what can be read with signalbox export`,
    ]);
  }
  if (codeOf(error) === undefined) throw error;
  const reason = explainOpening(error);
  throw new SettingsError([`dataDir: ${name}: ${directory} cannot be used: ${reason}; choose another with --data-dir`]);
};
