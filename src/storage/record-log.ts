import type { LogRecord, Match, StoredRecord } from './journal/line.ts';
import type { Listing } from './journal/read/listing.ts';
import type { Counting, Search, SearchResult } from './journal/read/search.ts';
import type { Appended } from './journal/writer.ts';

/** Whether records are stored, and what is known about the log. */
export interface RecordLogState {
  healthy: boolean;
  /** Why records are refused; undefined while they are stored. */
  failure: Error | undefined;
  /** The seq of the last record that is stored; undefined where that is in a database that has not been reached yet. */
  lastSeq: number | undefined;
  /** The highest seq given out, also to records that could not be stored; undefined where instances share the log. */
  assignedSeq?: number;
}

/** Deletes now what a reader has kept and no longer needs; otherwise that is deleted with the next segment. */
export type Release = () => void;

/** The last record that a reader has: `id` is undefined where it has a snapshot as of the seq. */
export interface LastRecord {
  seq: number;
  id?: string | undefined;
}

/** What a state in memory needs of a log. */
export type FollowedLog = Pick<
  RecordLog,
  'appendAll' | 'readAfter' | 'recentAfter' | 'onStored' | 'onLost' | 'onMoved' | 'holdFrom' | 'state'
>;

/**
 * A durable log of records, in files of this machine or in a database: every acknowledged record is in the log exactly
 * once, in the order of seq. A database that cannot be used rejects with StoreUnavailable.
 */
export interface RecordLog {
  /**
   * Resolves when the record is stored. Rejects with a JournalError (`unavailable`, `queue-full`, `too-large`,
   * `closed`); after `unavailable` the record may or may not be in the log. The fields id and seq are added.
   * Readers may get what is in the record as it is, so nothing of it may be changed later.
   */
  append(record: LogRecord): Promise<Appended>;
  /**
   * The same for several records: all of them are in the log or none, also after a crash in the middle. Together they
   * take at most 10 MiB (`too-large`). Their ids are new by default.
   */
  appendAll(records: readonly LogRecord[], ids?: readonly string[]): Promise<Appended[]>;
  /**
   * Those of the last `count` records that match, without events of features; of files also while records cannot be stored. Rejects with a JournalError
   * (`window-too-large`) if they take up more than 256 MiB of the log.
   */
  listLast(count: number, match?: Match): Promise<Listing>;
  /** The same at once, if those records are in memory. */
  listRecent?(count: number, match?: Match): readonly LogRecord[] | undefined;
  /**
   * The records after `seq`, oldest first and some at a time, up to the end of the log. Throws a JournalError `gone` where a
   * snapshot alone has some of them, or a database that instances share has lost `last` in a failover.
   */
  readAfter(seq: number, last?: LastRecord): AsyncGenerator<StoredRecord[]>;
  /** The same at once, if all of them are in memory. */
  recentAfter?(seq: number): readonly StoredRecord[] | undefined;
  /** Searches records, newest first. */
  search(search: Search): Promise<SearchResult>;
  /** The record with the id, a UUID. Of files it may reject with a JournalError (`window-too-large`). */
  find(id: string): Promise<StoredRecord | undefined>;
  /** Counts records by minute and key, for `add`; resolves to whether all were counted. */
  countByMinute(counting: Counting): Promise<boolean>;
  /**
   * Calls the listener, which must not throw, with the last seq soon after records were stored; returns the function that
   * ends it.
   */
  onStored(listener: (lastSeq: number) => void): () => void;
  /** Calls the listener when a database that instances share seems to have lost records; returns the function that ends it. */
  onLost?(listener: () => void): () => void;
  /** Calls the listener after another program has moved or changed files of the log; returns the function that ends it. */
  onMoved?(listener: () => void): () => void;
  /**
   * Retention of files keeps segments with records after `from()` as long as all closed segments take up at most
   * `maxBytes`. `onDropped` gets the last seq of each segment that is deleted nevertheless. Each reader calls it once, and with
   * `awaitsHold` the first call begins it.
   */
  holdFrom(from: () => number, maxBytes: number, onDropped: (lastSeq: number) => void): Promise<Release>;
  state(): RecordLogState;
  /** Learns what other instances have stored, if they share the log; does nothing if that is not possible. */
  refresh?(): Promise<void>;
  /** Refuses new records, stores the waiting ones, and releases what it has open. */
  close(): Promise<void>;
}
