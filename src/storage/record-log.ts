import type { LogRecord, Match, StoredRecord } from './journal/line.ts';
import type { Listing } from './journal/read/listing.ts';
import type { Counting, Search, SearchResult } from './journal/read/search.ts';
import type { Appended } from './journal/writer.ts';

/** State of a log. */
export interface RecordLogState {
  /** True while records are being stored successfully. */
  healthy: boolean;
  /** Error of the last write. Undefined while records are being stored successfully. */
  failure: Error | undefined;
  /** Seq of the last stored record. Undefined until the database of the log is available. */
  lastSeq: number | undefined;
  /** Highest assigned seq, including the seqs of failed records. Undefined for a log that instances share. */
  assignedSeq?: number;
}

/** Deletes the segments that a reader no longer needs. Does so immediately, without waiting for the next segment. */
export type Release = () => void;

/** Last record that a reader has read. */
export interface LastRecord {
  seq: number;
  /** Id of the record. Undefined if `seq` is the seq of a snapshot. */
  id?: string | undefined;
}

/** Log that a projection follows. */
export type FollowedLog = Pick<
  RecordLog,
  'appendAll' | 'readAfter' | 'recentAfter' | 'onStored' | 'onLost' | 'onReplaced' | 'holdFrom' | 'state'
>;

/**
 * Durable log of records, in local files or in a database. Contains every acknowledged record exactly once, in seq
 * order. Methods reject with StoreUnavailable while the database cannot be used.
 */
export interface RecordLog {
  /**
   * Appends a record. Resolves to its id and seq once it is stored. Rejects with a JournalError (`unavailable`,
   * `queue-full`, `too-large`, `closed`). After `unavailable`, the log may or may not contain the record. Do not change
   * the members of the record later, because readers may get the same objects.
   */
  append(record: LogRecord): Promise<Appended>;
  /**
   * Appends several records: either all of them or none, even after a crash in the middle. Together they take at most
   * 10 MiB (`too-large`). By default, ids are new.
   */
  appendAll(records: readonly LogRecord[], ids?: readonly string[]): Promise<Appended[]>;
  /**
   * Lists matches among the last `count` records. Leaves out feature events. In files, works even while records cannot
   * be stored. Rejects with a JournalError (`window-too-large`) if the records take up more than 256 MiB of the log.
   */
  listLast(count: number, match?: Match): Promise<Listing>;
  /** Synchronous version of `listLast`. Returns undefined if records are not in memory. */
  listRecent?(count: number, match?: Match): readonly LogRecord[] | undefined;
  /**
   * Reads the records after `seq` in pieces, oldest first, up to the end of the log. Throws a JournalError with the
   * code `gone` if some of the records are only in a snapshot, or if a failover of a shared database has lost `last`.
   */
  readAfter(seq: number, last?: LastRecord): AsyncGenerator<StoredRecord[]>;
  /** Returns the records after `seq`. Undefined if some of them are not in memory. */
  recentAfter?(seq: number): readonly StoredRecord[] | undefined;
  /** Searches records, newest first. */
  search(search: Search): Promise<SearchResult>;
  /** Finds the record with an id. The id is a UUID. In files, may reject with a JournalError (`window-too-large`). */
  find(id: string): Promise<StoredRecord | undefined>;
  /**
   * Counts records by minute and key. Passes the counts to `add`. Resolves to false if some records could not be
   * counted.
   */
  countByMinute(counting: Counting): Promise<boolean>;
  /**
   * Calls the listener with the last seq soon after records are stored. The listener must not throw. Returns a function
   * that removes the listener.
   */
  onStored(listener: (lastSeq: number) => void): () => void;
  /**
   * Calls the listener when a shared database seems to have lost records. Returns a function that removes the listener.
   */
  onLost?(listener: () => void): () => void;
  /**
   * Calls the listener after another program has moved or changed the files of the log. Returns a function that removes
   * the listener.
   */
  onReplaced?(listener: () => void): () => void;
  /**
   * Keeps segments with records after `from()`, as long as all closed segments take up at most `maxBytes`. If a segment
   * is deleted nevertheless, `onDropped` receives its last seq. Each reader calls this method once. With `awaitsHold`,
   * retention begins with the first call.
   */
  holdFrom(from: () => number, maxBytes: number, onDropped: (lastSeq: number) => void): Promise<Release>;
  state(): RecordLogState;
  /** Reads the last seq of a shared log. Does nothing while the database cannot be used. */
  refresh?(): Promise<void>;
  /** Refuses new records, stores waiting records, and closes the files. */
  close(): Promise<void>;
}
