import { SettingsError } from '../config/settings-error.ts';
import type { OpenChanges } from '../storage/changes.ts';
import { openFileChanges } from '../storage/file-changes.ts';
import { codeOf, explainOpening, JournalError } from '../storage/journal/errors.ts';
import type { LogOptions, Storage } from '../storage/storage.ts';
import type { StorageParts } from './database.ts';

/** Opens change logs in files of the directory. */
export const createChangesOpener = (
  directory: string,
  openLog: Storage['log'],
  { log, onProgress }: Required<Pick<StorageParts, 'log' | 'onProgress'>>,
): OpenChanges => {
  return async (name, state, onLost) => {
    const report = (err: Error) => log.warn({ err }, `${name}: the snapshot cannot be written; the log is kept`);
    const refuse = (error: unknown): never => {
      throw toRefusal(name, directory, error);
    };
    const onRead = (done: number, total: number) => onProgress(`Reading ${name}`, done, total);
    const files = { directory, openLog: (options: LogOptions) => openLog(name, options), report, onRead };
    const changes = await openFileChanges(files, name, state, onLost).catch(refuse);
    return {
      write: (change) => changes.write(change),
      countWaiting: () => changes.countWaiting(),
      isReady: () => changes.isReady(),
      // Saves the records of a seed on startup.
      save: async () => Promise.resolve(changes.save()).catch(refuse),
      close: () => changes.close(),
    };
  };
};

/** Returns a SettingsError if the files are at fault. Otherwise returns the error itself. */
const toRefusal = (name: string, directory: string, error: unknown): unknown => {
  if (error instanceof JournalError && error.code === 'damaged') {
    return new SettingsError([
      `dataDir: ${name}: ${error.message}; restore the folder from a backup, or save the readable part with signalbox export`,
    ]);
  }
  if (codeOf(error) === undefined) return error;
  const reason = explainOpening(error);
  return new SettingsError([
    `dataDir: ${name}: ${directory} cannot be used: ${reason}; choose another folder with --data-dir`,
  ]);
};
