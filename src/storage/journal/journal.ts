import { randomUUID } from 'node:crypto';
import { explainOpening, JournalError } from './errors.ts';
import { createDirectory } from './files/directory.ts';
import { createFreeSpaceCheck } from './files/free-space.ts';
import { type Lock, lockDirectory } from './files/lock.ts';
import { createFileNames, type FileNames } from './files/names.ts';
import { createSync } from './files/sync.ts';
import { type LogRecord, lineEndBytes, toLineStart } from './format/line.ts';
import type { Match } from './format/parse.ts';
import { type JournalOptions, type Settings, withDefaults } from './options.ts';
import { findLastSeq } from './read/last-seq.ts';
import { type Listing, listRecords } from './read/listing.ts';
import type { Appended } from './write/queue.ts';
import { SegmentStore } from './write/segment-store.ts';
import { Writer } from './write/writer.ts';

/** Bytes of the log that one listing may read: about 0.3 s of processor time. */
const maxListedBytes = 256 * 1024 * 1024;

/** Whether records can be stored, and facts about the log. */
interface JournalState {
  healthy: boolean;
  /** Why records are refused; undefined while they are stored. */
  failure: Error | undefined;
  /** The highest seq given out. */
  lastSeq: number;
  /** The most damaged lines that one listing has found. */
  damagedLines: number;
}

/** A durable log of records: every acknowledged record is in the log exactly once, in the order of seq. */
export interface Journal {
  /**
   * Resolves when the record is on disk. Rejects with a JournalError (`unavailable`, `queue-full`, `too-large`,
   * `closed`); after `unavailable` the record may or may not be in the log. The fields id, seq and crc are added.
   */
  append(record: LogRecord): Promise<Appended>;
  /**
   * Lists the matches among the last `count` records, even while records cannot be stored. Rejects with a JournalError
   * (`window-too-large`) if they take up more than 256 MiB of the log.
   */
  listLast(count: number, match?: Match): Promise<Listing>;
  state(): JournalState;
  /** Opens the file again if it was renamed or replaced; after a failure, tries to write again now. */
  reopen(): Promise<void>;
  /** Refuses new records, stores the waiting ones, and releases the files and the lock. */
  close(): Promise<void>;
}

/** Opens the log, or creates it if it does not exist. @throws JournalError `locked` or `unusable` */
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

const openLocked = async (names: FileNames, settings: Settings, lock: Lock): Promise<Journal> => {
  const store = await SegmentStore.open(names, createSync(settings.sync), settings);
  const lastSeq = await findLastSeq(store, settings.maxLineBytes);
  const assertFreeSpace = createFreeSpaceCheck(settings.directory, settings.minFreeBytes);
  const writer = new Writer(store, settings, assertFreeSpace, lastSeq);
  await writer.applyRetention();
  let damagedLines = 0;
  return {
    append: (record) => appendRecord(writer, record, settings.maxLineBytes),
    listLast: async (count, match) => {
      const window = { count, maxBytes: maxListedBytes, maxLineBytes: settings.maxLineBytes };
      const listing = await listRecords(store, window, match);
      if (listing.damaged > damagedLines) {
        damagedLines = listing.damaged;
        settings.report({ type: 'damaged-lines', lines: damagedLines });
      }
      return listing;
    },
    state: () => ({ healthy: !writer.failure, failure: writer.failure, lastSeq: writer.lastSeq, damagedLines }),
    reopen: () => writer.reopen(),
    close: async () => {
      await writer.close();
      await lock.release();
    },
  };
};

const appendRecord = (writer: Writer, record: LogRecord, maxBytes: number): Promise<Appended> => {
  const id = randomUUID();
  const start = toLineStart(record, id);
  if (Buffer.byteLength(start) + lineEndBytes > maxBytes) {
    return Promise.reject(new JournalError('too-large', `a record's line is at most ${maxBytes} bytes`));
  }
  return writer.append(id, start);
};
