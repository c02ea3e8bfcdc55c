import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntriesState } from './changes.ts';
import { openFileChanges } from './file-changes.ts';
import { createFileNames, createSync } from './journal/files.ts';
import { openJournal } from './journal/journal.ts';
import type { Awaitable } from './list.ts';
import { Places } from './places.ts';
import type { ImportedStores, PortableFolder, PortableRecord, PortableStore } from './portable-store.ts';
import { createSnapshotFile } from './snapshot-file.ts';
import type { LogOptions } from './storage.ts';

/**
 * Name of the marker file. It exists while an import is storing. During that time, some stores may be filled and others
 * empty. The file lists the logs that were empty before the import.
 */
const markerName = 'import.unfinished';

/** True if an import into the directory was interrupted while it was storing. */
export const hasUnfinishedImport = (directory: string): boolean => existsSync(join(directory, markerName));

/**
 * Opens the files of stores for an import. Removes data left by an interrupted import. Records are written as they
 * arrive, and states at the end. Throws a JournalError if the files cannot be opened, with the code `locked` if another
 * process uses the files.
 */
export const openFilesForImport = async (
  directory: string,
  stores: readonly PortableStore[],
): Promise<ImportedStores> => {
  const marker = createMarker(directory);
  const opened = new Map<PortableStore, ImportedFiles>();
  const logs = new Map<string, ImportedLog>();
  let progress: 'none' | 'begun' | 'saved' = 'none';
  const begin = async (): Promise<void> => {
    if (progress !== 'none') return;
    progress = 'begun';
    const emptyLogs = stores.filter((store) => isLog(store) && opened.get(store)?.isEmpty);
    await marker.write(emptyLogs.map(({ name }) => name));
  };
  const close = async (): Promise<void> => {
    for (const files of opened.values()) await files.close();
    if (progress !== 'begun') return;
    for (const files of opened.values()) await files.remove();
    await marker.remove();
  };
  try {
    const unfinished = marker.read();
    for (const store of stores) {
      // An interrupted import may have stored any state, but only logs that were empty before it.
      const hasUnfinished = (log: string): boolean => unfinished?.includes(log) === true;
      const { name, createState, projection, openFolder, isJoined } = store;
      if (openFolder) {
        const path = join(directory, name);
        opened.set(store, await openImportedFolder(path, () => openFolder(path), hasUnfinished(name)));
      } else if (createState)
        opened.set(store, await openState(directory, store, createState(), unfinished !== undefined));
      else if (projection?.follows === undefined) {
        const log = await openLog(directory, name, hasUnfinished(name));
        opened.set(store, isJoined && !log.isEmpty ? joinLog(log) : log);
        logs.set(name, log);
      } else {
        const { follows } = projection;
        const readSeq = () => logs.get(follows)?.lastSeq() ?? 0;
        opened.set(store, await openSnapshot(directory, store, readSeq, hasUnfinished(follows)));
      }
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    occupied: stores.find((store) => !store.isJoined && !opened.get(store)?.isEmpty)?.name,
    // A log writes and syncs all waiting records together.
    pieceCount: 5000,
    add: async (store, changes) => {
      if (isLog(store)) await begin();
      await opened.get(store)?.add(changes);
    },
    save: async () => {
      await begin();
      for (const files of opened.values()) await files.save();
      progress = 'saved';
    },
    commit: async () => {
      await marker.remove();
      return true;
    },
    close,
  };
};

const createMarker = (directory: string) => {
  const path = join(directory, markerName);
  const { directory: syncDirectory } = createSync(true);
  return {
    /** Returns the logs listed in the marker. Undefined without a marker. */
    read: (): string[] | undefined => (existsSync(path) ? readFileSync(path, 'utf8').split('\n') : undefined),
    write: async (logs: readonly string[]): Promise<void> => {
      await writeFile(path, logs.join('\n'), { mode: 0o600, flush: true });
      await syncDirectory(directory);
    },
    remove: async (): Promise<void> => {
      // After a power cut, the marker must not reappear next to later changes. Nor must files that were removed before
      // the marker.
      await syncDirectory(directory);
      await rm(path, { force: true });
      await syncDirectory(directory);
    },
  };
};

/** True for a store with records that are written as they arrive. */
const isLog = ({ createState, projection }: PortableStore): boolean =>
  !createState && projection?.follows === undefined;

/** Files of one store during an import. */
interface ImportedFiles {
  isEmpty: boolean;
  add(changes: readonly unknown[]): Promise<void>;
  save(): Awaitable<void>;
  close(): Awaitable<void>;
  /** Deletes the files once they have been closed. */
  remove(): Promise<void>;
}

interface ImportedLog extends ImportedFiles {
  /** Returns the seq of the last record. 0 if there is none. */
  lastSeq(): number;
}

/**
 * Opens the files of a state. With `isUnfinished`, removes the state left by an interrupted import as soon as the lock
 * is held.
 */
const openState = async (
  directory: string,
  { name, toLine }: PortableStore,
  state: EntriesState<unknown, unknown>,
  isUnfinished: boolean,
): Promise<ImportedFiles> => {
  const remove = (): Promise<void> => rm(join(directory, `${name}.state`), { force: true });
  const openStateLog = async (options: LogOptions) => {
    const journal = await openJournal({ directory, name, ...options });
    if (isUnfinished) await remove();
    return journal;
  };
  const ignore = (): void => undefined;
  const changes = await openFileChanges({ directory, openLog: openStateLog, report: ignore }, name, state, ignore);
  let isEmpty = true;
  for (const some of state.changes()) isEmpty &&= some.every((change) => toLine(change, 0, new Places()) === undefined);
  return {
    isEmpty,
    add: async (added) => {
      for (const change of added) state.apply(change);
    },
    save: () => changes.save(),
    close: () => changes.close(),
    remove,
  };
};

/** Opens the files of a log. With `isUnfinished`, removes the records left by an interrupted import. */
const openLog = async (directory: string, name: string, isUnfinished: boolean): Promise<ImportedLog> => {
  const remove = async (): Promise<void> => {
    for (const path of await createFileNames(directory, name).listAll()) await rm(path, { force: true });
  };
  let journal = await openJournal({ directory, name });
  if (isUnfinished) {
    await journal.close();
    await remove();
    journal = await openJournal({ directory, name });
  }
  const { count, damaged, close } = await journal.listLast(1);
  await close();
  return {
    isEmpty: journal.state().lastSeq === 0 && count + damaged === 0 && !existsSync(join(directory, `${name}.state`)),
    add: async (records) => {
      await Promise.all((records as readonly PortableRecord[]).map(({ id, record }) => journal.append(record, id)));
    },
    save: () => undefined,
    close: () => journal.close(),
    remove,
    lastSeq: () => journal.state().lastSeq,
  };
};

/** Only adds records at the end. A refused import therefore leaves the log unchanged. */
const joinLog = (log: ImportedLog): ImportedFiles => {
  const records: unknown[] = [];
  return {
    isEmpty: false,
    add: async (added) => {
      for (const record of added) records.push(record);
    },
    save: () => log.add(records),
    close: () => log.close(),
    remove: async () => undefined,
  };
};

/** Opens a folder. With `isUnfinished`, removes the files left by an interrupted import. */
const openImportedFolder = async (
  path: string,
  open: () => PortableFolder,
  isUnfinished: boolean,
): Promise<ImportedFiles> => {
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  if (isUnfinished) await remove();
  const folder = open();
  return {
    isEmpty: !existsSync(path) || (await folder.isEmpty()),
    add: (changes) => folder.add(changes),
    save: () => folder.save(),
    close: () => folder.close(),
    remove,
  };
};

/**
 * Opens the snapshot of a projection that follows another store's log. The lock of that log is held. The snapshot
 * contains the state at the last record of that log, and `readSeq` returns the seq of that record. With `isUnfinished`,
 * removes the snapshot left by an interrupted import.
 */
const openSnapshot = async (
  directory: string,
  { name, projection, toLine }: PortableStore,
  readSeq: () => number,
  isUnfinished: boolean,
): Promise<ImportedFiles> => {
  const path = join(directory, `${name}.state`);
  const remove = (): Promise<void> => rm(path, { force: true });
  if (isUnfinished) await remove();
  const snapshot = createSnapshotFile(path);
  const state = projection?.createState();
  let isEmpty = true;
  await snapshot.read(
    (entry) => state?.restore(entry),
    () => {
      isEmpty = false;
    },
  );
  for (const piece of state?.save() ?? [])
    isEmpty &&= piece.every((entry) => toLine(entry, 0, new Places()) === undefined);
  const entries: unknown[] = [];
  return {
    isEmpty,
    add: async (added) => {
      for (const entry of added) entries.push(entry);
    },
    save: async () => {
      if (entries.length > 0) await snapshot.write(readSeq(), [entries]);
    },
    close: () => undefined,
    remove,
  };
};
