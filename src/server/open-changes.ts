import { SettingsError } from '../config/settings-error.ts';
import type { OpenLog } from '../kit/feature.ts';
import { keepInMemory, type OpenChanges } from '../storage/changes.ts';
import { codeOf, explainOpening, JournalError } from '../storage/journal/errors.ts';
import type { Journal } from '../storage/journal/journal.ts';
import type { JournalEvent } from '../storage/journal/options.ts';
import { type LogOptions, openKeptChanges } from '../storage/kept-changes.ts';
import type { StorageParts } from './database.ts';

interface ChangesOpener {
  openChanges: OpenChanges;
  /** Opens the files of changes again that another program has moved. */
  reopen(): Promise<void>;
}

/** Keeps changes in memory alone. */
export const openChangesInMemory: ChangesOpener = {
  openChanges: async (_name, state) => keepInMemory(state),
  reopen: async () => undefined,
};

/** Opens change logs in files of the directory. */
export const createChangesOpener = (
  directory: string,
  openLog: OpenLog,
  { log, onProgress }: Required<Pick<StorageParts, 'log' | 'onProgress'>>,
): ChangesOpener => {
  const journals: Journal[] = [];
  const openChanges: OpenChanges = async (name, state, onLost) => {
    const openChangesJournal = async (options: LogOptions, isExpected: (event: JournalEvent) => boolean) => {
      const journal = await openLog(`${name} log`, { name, ...options }, isExpected);
      journals.push(journal);
      return journal;
    };
    const report = (err: Error) => log.warn({ err }, `${name}: the state cannot be written, so the log is kept`);
    const refuse = (error: unknown): never => {
      throw toRefusal(name, directory, error);
    };
    const onRead = (done: number, total: number) => onProgress(`Reading ${name}`, done, total);
    const surroundings = { directory, openJournal: openChangesJournal, report, onRead };
    const changes = await openKeptChanges(surroundings, name, state, onLost).catch(refuse);
    return {
      write: (change) => changes.write(change),
      countWaiting: () => changes.countWaiting(),
      isReady: () => changes.isReady(),
      // Saves the records of a seed, on startup.
      save: async () => Promise.resolve(changes.save()).catch(refuse),
      close: () => changes.close(),
    };
  };
  const reopen = async (): Promise<void> => {
    await Promise.all(journals.map((journal) => journal.reopen()));
  };
  return { openChanges, reopen };
};

/** Returns a SettingsError if the files are at fault, else the error itself. */
const toRefusal = (name: string, directory: string, error: unknown): unknown => {
  if (error instanceof JournalError && error.code === 'damaged') {
    return new SettingsError([
      `dataDir: ${name}: ${error.message}; restore the folder from a backup, or save what can be read with signalbox export`,
    ]);
  }
  if (codeOf(error) === undefined) return error;
  const reason = explainOpening(error);
  return new SettingsError([
    `dataDir: ${name}: ${directory} cannot be used: ${reason}; choose another folder with --data-dir`,
  ]);
};
