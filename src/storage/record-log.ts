import type { LogRecord, Match, StoredRecord } from './journal/line.ts';
import type { Listing } from './journal/read/listing.ts';
import type { Counting, Search, SearchResult } from './journal/read/search.ts';
import type { Appended } from './journal/writer.ts';

/** State of a log. */
export interface RecordLogState {
  /** True while records are stored. */
  healthy: boolean;
  /** Error of the last write; undefined while records are stored. */
  failure: Error | undefined;
  /** Seq of the last stored record; undefined until the log's database was reached. */
  lastSeq: number | undefined;
  /** Highest seq that was given out, also to records that failed; undefined for a log that instances share. */
  assignedSeq?: number;
}

/** Deletes the segments that a reader no longer needs now, instead of with the next segment. */
export type Release = () => void;

/** Last record that a reader has read. */
export interface LastRecord {
  seq: number;
  /** Undefined for the seq of a snapshot. */
  id?: string | undefined;
}

/** Log that a projection follows. */
export type FollowedLog = Pick<
  RecordLog,
  'appendAll' | 'readAfter' | 'recentAfter' | 'onStored' | 'onLost' | 'onMoved' | 'holdFrom' | 'state'
>;

/**
 * Durable log of records, in files of this machine or in a database. Every acknowledged record is in the log exactly once, in the
 * order of seq. Methods reject with StoreUnavailable while the database cannot be used.
 */
export interface RecordLog {
  /**
   * Resolves when the record is stored, with the fields id and seq. Rejects with a JournalError (`unavailable`, `queue-full`,
   * `too-large`, `closed`); after `unavailable` the record may or may not be in the log. Readers may get the record's own
   * members,
   * so they must not be changed later.
   */
  append(record: LogRecord): Promise<Appended>;
  /**
   * Appends several records, of which the log has all or none, also after a crash in the middle. Together they take at most 10
   * MiB
   * (`too-large`). Ids are new by default.
   */
  appendAll(records: readonly LogRecord[], ids?: readonly string[]): Promise<Appended[]>;
  /**
   * Lists matches among the last `count` records, without events of features; from files also while records cannot be stored.
   * Rejects with a JournalError (`window-too-large`) if the records take up more than 256 MiB of the log.
   */
  listLast(count: number, match?: Match): Promise<Listing>;
  /** Lists like `listLast`, without waiting; returns undefined if records are not in memory. */
  listRecent?(count: number, match?: Match): readonly LogRecord[] | undefined;
  /**
   * Reads the records after `seq`, oldest first, in pieces, up to the end of the log. Throws a JournalError `gone` if only a
   * snapshot has some of them, or if a shared database has lost `last` in a failover.
   */
  readAfter(seq: number, last?: LastRecord): AsyncGenerator<StoredRecord[]>;
  /** Returns the records after `seq`; undefined if some are not in memory. */
  recentAfter?(seq: number): readonly StoredRecord[] | undefined;
  /** Searches records, newest first. */
  search(search: Search): Promise<SearchResult>;
  /** Finds the record with the id, a UUID. In files, may reject with a JournalError (`window-too-large`). */
  find(id: string): Promise<StoredRecord | undefined>;
  /** Counts records by minute and key, for `add`; resolves to false if some could not be counted. */
  countByMinute(counting: Counting): Promise<boolean>;
  /**
   * Calls the listener, which must not throw, with the last seq soon after records were stored; returns a function that removes
   * it.
   */
  onStored(listener: (lastSeq: number) => void): () => void;
  /** Calls the listener when a shared database seems to have lost records; returns a function that removes it. */
  onLost?(listener: () => void): () => void;
  /** Calls the listener after another program has moved or changed files of the log; returns a function that removes it. */
  onMoved?(listener: () => void): () => void;
  /**
   * Keeps segments of files with records after `from()` while all closed segments take up at most `maxBytes`. `onDropped`
   * receives
   * the last seq of each segment that is deleted nevertheless. Each reader calls this once; with `awaitsHold`, retention begins
   * with the first call.
   */
  holdFrom(from: () => number, maxBytes: number, onDropped: (lastSeq: number) => void): Promise<Release>;
  state(): RecordLogState;
  /** Reads the last seq of a shared log; does nothing while the database cannot be used. */
  refresh?(): Promise<void>;
  /** Refuses new records, stores the waiting ones, and closes files. */
  close(): Promise<void>;
}
