import { MiB } from '../../lib/units.ts';
import type { RecordLog, RecordLogState } from '../record-log.ts';
import { explainOpening, JournalError } from './errors.ts';
import {
  createDirectory,
  createFileNames,
  createFreeSpaceCheck,
  createSync,
  type FileNames,
  type Hold,
  measureSync,
} from './files.ts';
import { LogIndex } from './index/log-index.ts';
import type { LogRecord, StoredRecord } from './line.ts';
import { type Lock, lockDirectory } from './lock.ts';
import { type JournalOptions, type JournalSettings, withDefaults } from './options.ts';
import { createDamageReport } from './read/damage.ts';
import { findLastSeq } from './read/files.ts';
import { type Listing, listRecords } from './read/listing.ts';
import { countRecords, createReadAfter, findRecord, type Search, type SearchResult, searchLog } from './read/search.ts';
import { filledCount } from './recent.ts';
import { SegmentStore } from './segment-store.ts';
import { type Appended, JournalWriter } from './writer.ts';

/** Maximum number of bytes of the log that a listing reads. They take about 0.3 s of CPU time. */
const maxListedBytes = 256 * MiB;

/** Maximum number of bytes of the log that a search for a single record reads. */
const maxFoundBytes = 64 * MiB;

interface JournalState extends RecordLogState {
  lastSeq: number;
  assignedSeq: number;
  /** Number of records waiting for the disk. */
  waiting: number;
}

/** Log of records in local files. Each line also has a `crc`. */
export interface Journal extends RecordLog {
  /** Appends a record. A record from another log keeps its id. The id is a UUID. */
  append(record: LogRecord, id?: string): Promise<Appended>;
  /**
   * Reads the records after `seq` in pieces, oldest first, up to the end of the log at the first read. Skips and
   * reports foreign and damaged lines. A reader may keep one file open until it ends.
   */
  readAfter(seq: number): AsyncGenerator<StoredRecord[]>;
  /**
   * Searches the records written by this log, newest first, even while records cannot be stored. Files and blocks
   * without records in the range are not read, so a range costs as much as a log that contains only that range.
   */
  search(search: Search): Promise<SearchResult>;
  /** Finds the record with an id. Rejects with a JournalError (`window-too-large`) after reading 64 MiB. */
  find(id: string): Promise<StoredRecord | undefined>;
  state(): JournalState;
  /** Reopens the file if it was renamed or replaced. After a failure, immediately tries to write again. */
  reopen(): Promise<void>;
}

/** Opens the log, creating it if it does not exist. @throws JournalError with the code `locked` or `unusable` */
export const openJournal = async (options: JournalOptions): Promise<Journal> => {
  const settings = withDefaults(options);
  const names = createFileNames(settings.directory, settings.name);
  try {
    await createDirectory(settings.directory, createSync(settings.sync));
    const lock = await lockDirectory(settings.directory, settings.name, names.lock);
    return await openLocked(names, settings, lock).catch(async (error) => {
      await lock.release();
      throw error;
    });
  } catch (error) {
    if (error instanceof JournalError) throw error;
    throw new JournalError('unusable', `the log in ${settings.directory} cannot be written: ${explainOpening(error)}`, {
      cause: error,
    });
  }
};

const openLocked = async (names: FileNames, settings: JournalSettings, lock: Lock): Promise<Journal> => {
  const sync = measureSync(createSync(settings.sync), settings.onSync);
  const store = await SegmentStore.open(names, sync, settings);
  return openStored(store, names, settings, lock).catch(async (error) => {
    await store.close();
    throw error;
  });
};

const openStored = async (
  store: SegmentStore,
  names: FileNames,
  settings: JournalSettings,
  lock: Lock,
): Promise<Journal> => {
  const index = new LogIndex(store, names, settings);
  const lastSeq = await findLastSeq(store, settings.maxLineBytes);
  const assertFreeSpace = createFreeSpaceCheck(settings.directory, settings.minFreeBytes);
  const writer = new JournalWriter(store, settings, assertFreeSpace, lastSeq);
  await writer.applyRetention();
  const damage = createDamageReport(names, settings);
  const { recent } = store;
  if ((await store.check()) && store.isEmpty) recent.fill([], lastSeq + 1, true);
  const readFilesAfter = createReadAfter(store, index, settings.maxLineBytes, damage.observeFrom);
  async function* readAfter(seq: number): AsyncGenerator<StoredRecord[]> {
    const known = recent.after(seq);
    if (known === undefined) yield* readFilesAfter(seq);
    else if (known.length > 0) yield known;
  }
  /**
   * Keeps the records of a short list in memory, so that the next list does not have to read the disk. Does nothing if
   * a record is being stored or has been stored since the list began at `version`, or if the file was moved.
   */
  const keepRecent = async (listing: Listing, count: number, version: number): Promise<Listing> => {
    const records: LogRecord[] = [];
    for await (const record of listing.records()) records.push(record);
    const isSame = await store.check();
    const isCurrent = recent.version === version && writer.waiting === 0;
    if (!isSame) recent.clear();
    else if (isCurrent && !recent.list(count)) recent.fill(records, writer.assignedSeq + 1, records.length < count);
    const readKept = async function* () {
      yield* records;
    };
    return { ...listing, records: readKept };
  };
  return {
    append: (record, id) => writer.append(record, id),
    appendAll: (records, ids) => writer.appendGroup(records, ids),
    readAfter,
    recentAfter: (seq) => recent.after(seq),
    listRecent: (count, match) => (store.isUnchanged ? recent.list(count, match) : undefined),
    search: (search) => searchLog(index, settings.indexing, search),
    find: (id) => findRecord(index, id, maxFoundBytes),
    countByMinute: (counting) => countRecords(index, counting),
    onStored: (listener) => writer.onStored(listener),
    onReplaced: (listener) => store.onReplaced(listener),
    holdFrom: async (from, maxBytes, onDropped) => {
      const hold: Hold = { from, maxBytes, onDropped };
      store.holdFrom(hold);
      await writer.applyRetention();
      return () => void writer.applyRetention();
    },
    listLast: async (count, match) => {
      const window = { count, maxBytes: maxListedBytes, maxLineBytes: settings.maxLineBytes };
      const { version } = recent;
      const listing = await listRecords(store, window, match, damage.noteLine);
      // The file was edited.
      if (listing.damaged > 0) recent.clear();
      const isWhole = match === undefined && listing.damaged === 0 && listing.isShort;
      return isWhole && count <= Math.min(filledCount, settings.recentCount)
        ? keepRecent(listing, count, version)
        : listing;
    },
    state: () => ({
      healthy: !writer.failure,
      failure: writer.failure,
      lastSeq: writer.lastSeq,
      assignedSeq: writer.assignedSeq,
      waiting: writer.waiting,
    }),
    reopen: () => writer.reopen(),
    close: async () => {
      await Promise.all([writer.close(), index.close()]);
      await lock.release();
    },
  };
};
