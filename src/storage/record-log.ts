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
  /** Seq of the last stored record; undefined until the log's database has been reached. */
  lastSeq: number | undefined;
  /** Highest assigned seq, including failed records; undefined for a log that instances share. */
  assignedSeq?: number;
}

/** Deletes the segments a reader no longer needs now rather than with the next segment. */
export type Release = () => void;

/** Last record a reader has read. */
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
 * Durable log of records, in local files or in a database. The log contains every acknowledged record exactly once, in
 * seq order. Methods reject with StoreUnavailable while the database cannot be used.
 */
export interface RecordLog {
  /**
   * Resolves once the record is stored, with its id and seq. Rejects with a JournalError (`unavailable`, `queue-full`,
   * `too-large`, `closed`); after `unavailable`, the log may or may not contain the record. Do not change the record's
   * members later, because readers may get the same objects.
   */
  append(record: LogRecord): Promise<Appended>;
  /**
   * Appends several records, all or none of which end up in the log, even after a crash in the middle. Together they
   * take at most 10 MiB (`too-large`). Ids are new by default.
   */
  appendAll(records: readonly LogRecord[], ids?: readonly string[]): Promise<Appended[]>;
  /**
   * Lists matches among the last `count` records, excluding feature events; in files, even while records cannot be
   * stored. Rejects with a JournalError (`window-too-large`) if the records take up more than 256 MiB of the log.
   */
  listLast(count: number, match?: Match): Promise<Listing>;
  /** Like `listLast`, but synchronous; returns undefined if records are not in memory. */
  listRecent?(count: number, match?: Match): readonly LogRecord[] | undefined;
  /**
   * Reads the records after `seq`, oldest first, in pieces, up to the end of the log. Throws a JournalError `gone` if
   * only a snapshot has some of them, or if a shared database has lost `last` in a failover.
   */
  readAfter(seq: number, last?: LastRecord): AsyncGenerator<StoredRecord[]>;
  /** Returns the records after `seq`; undefined if some are not in memory. */
  recentAfter?(seq: number): readonly StoredRecord[] | undefined;
  /** Searches records, newest first. */
  search(search: Search): Promise<SearchResult>;
  /** Finds the record with an id, a UUID. In files, may reject with a JournalError (`window-too-large`). */
  find(id: string): Promise<StoredRecord | undefined>;
  /** Counts records by minute and key for `add`; resolves to false if some could not be counted. */
  countByMinute(counting: Counting): Promise<boolean>;
  /**
   * Calls the listener, which must not throw, with the last seq soon after records are stored; returns a function that
   * removes it.
   */
  onStored(listener: (lastSeq: number) => void): () => void;
  /** Calls the listener when a shared database seems to have lost records; returns a function that removes it. */
  onLost?(listener: () => void): () => void;
  /** Calls the listener after another program moves or changes the log's files; returns a function that removes it. */
  onMoved?(listener: () => void): () => void;
  /**
   * Keeps segments containing records after `from()`, as long as all closed segments take up at most `maxBytes`.
   * `onDropped` receives the last seq of each segment deleted nevertheless. Each reader calls this once; with
   * `awaitsHold`, retention begins with the first call.
   */
  holdFrom(from: () => number, maxBytes: number, onDropped: (lastSeq: number) => void): Promise<Release>;
  state(): RecordLogState;
  /** Reads the last seq of a shared log; does nothing while the database cannot be used. */
  refresh?(): Promise<void>;
  /** Refuses new records, stores waiting ones, and closes the files. */
  close(): Promise<void>;
}
